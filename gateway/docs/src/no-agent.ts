// In the place of the reference's chat, which would send what its reader asks to another host.
export const Chat = undefined;
