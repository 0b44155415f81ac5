import type { ComponentProps } from 'react';

type Props = ComponentProps<'button'> & { 'data-loading'?: boolean };

/**
 * The element of every button. While its work is in progress it ignores presses but keeps the keyboard focus, which
 * a disabled element loses.
 */
export function FocusableButton({ type = 'button', disabled, onClick, ...others }: Props) {
  const is_working = others['data-loading'] === true;
  return (
    <button
      {...others}
      type={type}
      disabled={disabled && !is_working}
      {...(is_working && { 'aria-disabled': true, 'aria-busy': true })}
      onClick={(event) => {
        // Of a submit button too, so that Enter in a field does not submit the form again.
        if (is_working) event.preventDefault();
        else onClick?.(event);
      }}
    />
  );
}
