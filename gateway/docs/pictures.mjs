// Draws how a phone shows each kind of message, for the guides: pictures/<kind>.svg, light and dark
// in one file. `node gateway/docs/pictures.mjs` writes them; with --check it fails if a file
// differs.
import { readFileSync, writeFileSync } from 'node:fs';

const WIDTH = 264;
const EDGE = 12;
const LINE = 19;
const LINE_MAX = 30;

/** The parts of the bubble, from top to bottom; `below` follows it. */
const KINDS = {
  text: { lines: ['Your order is on its way:', 'https://example.com'], link: 1 },
  template: {
    title: 'Order A-4711',
    lines: ['Hi Ada, your order A-4711', 'is on its way.'],
    foot: 'Reply STOP to opt out',
    buttons: ['Track the parcel'],
  },
  image: { box: 'M24 76l34-34 24 24 14-14 40 40', lines: ['A plant'] },
  video: { box: 'M70 34l40 24-40 24z', lines: ['How to water it'] },
  audio: { row: 'M0 0l14 9-14 9z', label: 'Voice message · 0:12' },
  document: { row: 'M1 0h10l5 5v15H1z', label: 'invoice.pdf' },
  sticker: { sticker: true },
  buttons: { lines: ['Deliver on Monday?'], buttons: ['Yes', 'No'] },
  list: {
    lines: ['When shall we deliver?'],
    buttons: ['☰  Choose a day'],
    rows: ['Monday', 'Tuesday', 'Friday'],
  },
  products: {
    lines: ['New in our shop'],
    items: ['Fern · 12.00 EUR', 'Cactus · 8.00 EUR'],
    buttons: ['View items'],
  },
  location: {
    box: 'M90 26a20 20 0 0 1 20 20c0 14-20 36-20 36s-20-22-20-36a20 20 0 0 1 20-20z',
    lines: ['Our shop'],
  },
  reaction: { theirs: 'Thank you, it has arrived!', reaction: '♥' },
};

const STYLE = `
text{font:14px system-ui,sans-serif;fill:#1c2024}.soft{fill:#5b6570;font-size:12px}.link{fill:#0b57d0}
.bold{font-weight:600}.phone{fill:#efe7dc;stroke:#d9d2c8}.own{fill:#d9fdd3}.theirs{fill:#fff}
.box{fill:#c3dcc0}.mark{fill:none;stroke:#2f6b45;stroke-width:4;stroke-linejoin:round}
@media (prefers-color-scheme:dark){text{fill:#e9ecef}.soft{fill:#a5aeb7}.link{fill:#a8c7fa}
.phone{fill:#10171a;stroke:#34383d}.own{fill:#12402f}.theirs{fill:#22272b}.box{fill:#1d5540}
.mark{stroke:#a9d8bd}}`.replace(/\n/g, '');

const escape = (text) => text.replace(/[&<>]/g, (char) => `&#${char.charCodeAt(0)};`);
const text = (x, y, words, kind = '', anchor = 'start') =>
  `<text x="${x}" y="${y}" class="${kind}" text-anchor="${anchor}">${escape(words)}</text>`;
const box = (x, y, width, height, kind, round = 10) =>
  `<rect x="${x}" y="${y}" width="${width}" height="${height}" rx="${round}" class="${kind}"/>`;

/** The parts inside a bubble that starts at `top`; returns them with the position below. */
function content(kind, left, top) {
  const parts = [];
  let y = top;
  const line = (words, style) => {
    if (words.length > LINE_MAX) throw new Error(`too long for a line: ${words}`);
    parts.push(text(left, y + 14, words, style));
    y += LINE;
  };
  if (kind.box) {
    parts.push(box(left, y, 180, 112, 'box', 6));
    parts.push(`<path transform="translate(${left} ${y})" d="${kind.box}" class="mark"/>`);
    y += 120;
  }
  if (kind.row) {
    parts.push(`<path transform="translate(${left + 4} ${y + 6})" d="${kind.row}" class="mark"/>`);
    parts.push(text(left + 32, y + 21, kind.label));
    y += 34;
  }
  if (kind.title) line(kind.title, 'bold');
  kind.lines?.forEach((words, at) => line(words, kind.link === at ? 'link' : ''));
  kind.items?.forEach((words) => {
    parts.push(box(left, y + 2, 28, 28, 'box', 4), text(left + 38, y + 21, words));
    y += 34;
  });
  if (kind.foot) line(kind.foot, 'soft');
  return { parts, y };
}

/** The platform's own button and list rows are below the bubble. */
function below(kind, left, width, top) {
  const parts = [];
  let y = top;
  for (const words of kind.buttons ?? []) {
    parts.push(box(left, y, width, 32, 'own', 8));
    parts.push(text(left + width / 2, y + 21, words, 'link', 'middle'));
    y += 36;
  }
  for (const words of kind.rows ?? []) {
    parts.push(text(left + 14, y + 20, `○  ${words}`));
    y += 26;
  }
  return { parts, y };
}

function bubbleOf(kind) {
  if (kind.sticker) {
    const face = 'M30 38v4M58 38v4M26 58q18 20 36 0';
    return {
      y: 108,
      parts: [
        '<circle cx="196" cy="58" r="44" class="box"/>',
        `<path transform="translate(152 8)" d="${face}" class="mark" stroke-linecap="round"/>`,
      ],
    };
  }
  if (kind.theirs) {
    return {
      y: 74,
      parts: [
        box(EDGE, 14, 200, 40, 'theirs'),
        text(EDGE + 12, 39, kind.theirs),
        box(EDGE + 8, 46, 34, 24, 'own', 12),
        text(EDGE + 25, 63, kind.reaction, '', 'middle'),
      ],
    };
  }
  const [left, width] = [48, WIDTH - 48 - EDGE];
  const inside = content(kind, left + 12, 24);
  const own = box(left, 14, width, inside.y - 14 + 8, 'own');
  const after = below(kind, left, width, inside.y + 12);
  return { y: after.y, parts: [own, ...inside.parts, ...after.parts] };
}

function draw(kind) {
  const { y, parts } = bubbleOf(kind);
  const height = y + 12;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}" viewBox="0 0 ${WIDTH} ${height}"><style>${STYLE}</style>${box(0.5, 0.5, WIDTH - 1, height - 1, 'phone', 16)}${parts.join('')}</svg>\n`;
}

const differ = Object.entries(KINDS).filter(([name, kind]) => {
  const file = new URL(`pictures/${name}.svg`, import.meta.url);
  const drawn = draw(kind);
  if (process.argv[2] === '--check') return readFileSync(file, 'utf8') !== drawn;
  writeFileSync(file, drawn);
  return false;
});
if (differ.length > 0) {
  const names = differ.map(([name]) => name).join(', ');
  process.stderr.write(`run node gateway/docs/pictures.mjs: it draws ${names} otherwise\n`);
  process.exit(1);
}
