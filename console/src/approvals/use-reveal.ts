import { useState } from 'preact/hooks';
import { Problem } from '../api.ts';
import type { ApprovalView } from '../api-types.ts';
import { showToast } from '../components/toast.tsx';
import { reveal } from './decide.ts';

export interface Revealed {
  /** The question to show: masked at first, without marks after this person has revealed it here. */
  readonly approval: ApprovalView;
  /** Whether the shown question has marks. If it has, it cannot be allowed yet. */
  readonly isMasked: boolean;
  readonly isRevealing: boolean;
  readonly onReveal: () => void;
}

/** Keeps a revealed text only for its own question. Another question on the same screen stays masked until it is revealed too. */
export function useReveal(asked: ApprovalView): Revealed {
  const [seen, setSeen] = useState<ApprovalView>();
  const [isRevealing, setRevealing] = useState(false);
  const isSeen = seen !== undefined && seen.id === asked.id && seen.binding === asked.binding;
  const isOpen = asked.state === 'pending';
  const onReveal = async (): Promise<void> => {
    setRevealing(true);
    try {
      setSeen(await reveal(asked));
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      showToast(`${asked.tool}: ${error.message} (${error.code})`, 'bad');
    } finally {
      setRevealing(false);
    }
  };
  const texts = isSeen ? { arguments: seen.arguments, ...(seen.answers ? { answers: seen.answers } : {}) } : {};
  return {
    approval: isSeen && isOpen ? { ...asked, ...texts } : asked,
    isMasked: asked.masked && isOpen && !isSeen,
    isRevealing,
    onReveal: () => void onReveal(),
  };
}
