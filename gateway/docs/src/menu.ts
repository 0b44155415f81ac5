// The menu of small screens: one button opens the links of the header and the list of guides
// together. Both are on the page without JavaScript.
const button = document.querySelector<HTMLButtonElement>('.menu') as HTMLButtonElement;
const { body } = document;

function show(open: boolean): void {
  body.classList.toggle('menu-open', open);
  button.setAttribute('aria-expanded', String(open));
}

button.addEventListener('click', () => show(button.getAttribute('aria-expanded') !== 'true'));
document.addEventListener('keydown', ({ key }) => {
  if (key !== 'Escape' || !body.classList.contains('menu-open')) return;
  show(false);
  button.focus();
});
// A link to a part of the page closes the menu above it.
document.querySelector('.guides')?.addEventListener('click', ({ target }) => {
  if ((target as Element).closest('a[href^="#"]')) show(false);
});
