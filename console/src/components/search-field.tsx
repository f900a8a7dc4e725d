import type { VNode } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';

/** How long the person must pause before the search runs, so that not every key makes a request. */
const PAUSE_MS = 200;

export interface SearchFieldProps {
  /** The text that is searched for, from the address of the page. */
  readonly value: string;
  /** Gets the text without surrounding spaces while the person types. */
  readonly onSearch: (text: string) => void;
  readonly class?: string;
}

/** The search of a page with a list. It runs while the person types, and at once on Enter. The key `/` focuses it. */
export function SearchField({ value, onSearch, class: name = '' }: SearchFieldProps): VNode {
  const [text, setText] = useState(value);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const sent = useRef(value);
  const latest = useRef(onSearch);
  latest.current = onSearch;
  const search = (typed: string): void => {
    clearTimeout(timer.current);
    const wanted = typed.trim();
    if (wanted === sent.current) return;
    sent.current = wanted;
    latest.current(wanted);
  };
  useEffect(() => () => clearTimeout(timer.current), []);
  useEffect(() => {
    // The address has what this field has sent. Meanwhile the person may have typed more, which is kept.
    if (value === sent.current) return;
    clearTimeout(timer.current);
    sent.current = value;
    setText(value);
  }, [value]);
  return (
    <label class={`field ${name}`}>
      Search id or text
      <input
        type="search"
        autoComplete="off"
        spellcheck={false}
        data-filter
        value={text}
        onInput={({ currentTarget }) => {
          const typed = currentTarget.value;
          setText(typed);
          clearTimeout(timer.current);
          timer.current = setTimeout(() => search(typed), PAUSE_MS);
        }}
        onKeyDown={({ key, currentTarget }) => {
          if (key !== 'Enter') return;
          search(currentTarget.value);
          // The next keys are shortcuts for the list.
          currentTarget.blur();
        }}
      />
    </label>
  );
}
