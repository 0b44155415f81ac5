import type { ComponentProps } from 'react';

type Props = ComponentProps<'button'> & { 'data-loading'?: boolean };

/**
 * The element of every button. While its work is in progress it ignores presses but keeps the
 * keyboard focus, which a disabled element loses.
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
        // Prevents a second submit by Enter in a field.
        if (is_working) event.preventDefault();
        else onClick?.(event);
      }}
    />
  );
}
