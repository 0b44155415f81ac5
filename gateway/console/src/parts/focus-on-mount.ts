/**
 * For content that replaces the element with the focus: a `ref` of an element with `tabIndex={-1}`.
 */
export const focusOnMount = (element: HTMLElement | null): void => element?.focus();
