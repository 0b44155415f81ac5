// Detects if a person uses the page. Requests that the page repeats by itself while no person uses
// it are marked, so that the session ends as if the page were closed.
const INPUTS = ['pointerdown', 'pointermove', 'keydown', 'wheel', 'touchstart'] as const;
/** Requests within this time after an input count as caused by it. */
const ACTIVE_MS = 60_000;

/** Opening the page is the first input. */
let used_at = performance.now();

export function watchActivity(): void {
  const onInput = (): void => {
    used_at = performance.now();
  };
  for (const input of INPUTS) {
    window.addEventListener(input, onInput, { capture: true, passive: true });
  }
}

export const isIdle = (): boolean => performance.now() - used_at > ACTIVE_MS;
