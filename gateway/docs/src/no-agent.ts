// Replaces the chat of the reference renderer, which would send the reader's questions to another
// host.
export const Chat = undefined;
