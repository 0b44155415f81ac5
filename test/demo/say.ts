// The demo's output: numbered steps with details below them.
let count = 0;

export function step(text: string): void {
  count += 1;
  process.stdout.write(`\n${count}. ${text}\n`);
}

export const sub = (text: string): void => {
  process.stdout.write(`   ${text}\n`);
};

export const say = (text: string): void => {
  process.stdout.write(`${text}\n`);
};
