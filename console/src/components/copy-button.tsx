import type { VNode } from 'preact';
import { Button } from './button.tsx';
import { Inert } from './inert.tsx';
import { showToast } from './toast.tsx';

/** Copies the stored text and not the shown one: marks for hidden characters are not copied. */
export function CopyButton({ text, what }: { readonly text: string; readonly what: string }): VNode {
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text);
      showToast(`Copied the ${what}.`);
    } catch {
      showToast('The browser did not let the page copy. Select the text instead.', 'bad');
    }
  };
  return (
    <Button kind="quiet" label={`Copy the ${what}`} title={`Copy the ${what}`} onClick={() => void copy()}>
      Copy
    </Button>
  );
}

/** A whole id or digest that can be copied. */
export function CopiedId({ text, what }: { readonly text: string; readonly what: string }): VNode {
  return (
    <span class="copied-id">
      <span class="mono">
        <Inert text={text} />
      </span>
      <CopyButton text={text} what={what} />
    </span>
  );
}
