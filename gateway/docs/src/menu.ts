// The menu of small screens: one button opens the links of the header and the list of guides
// together. Both are on the page without JavaScript.
const button = document.querySelector<HTMLButtonElement>('.menu') as HTMLButtonElement;
const { body } = document;
/**
 * Sent to the body when the menu opens or closes: the reference has a list of endpoints to show.
 */
export const MENU_EVENT = 'menu';

function show(open: boolean): void {
  body.classList.toggle('menu-open', open);
  button.setAttribute('aria-expanded', String(open));
  body.dispatchEvent(new CustomEvent<boolean>(MENU_EVENT, { detail: open }));
}

body.classList.add('scripted');
button.hidden = false;
button.addEventListener('click', () => show(button.getAttribute('aria-expanded') !== 'true'));
document.addEventListener('keydown', ({ key }) => {
  if (key !== 'Escape' || !body.classList.contains('menu-open')) return;
  show(false);
  button.focus();
});
