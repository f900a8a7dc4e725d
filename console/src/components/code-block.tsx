import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { foldText, type FoldLimits } from '../fold-text.ts';
import { Button } from './button.tsx';
import { Inert } from './inert.tsx';

export interface CodeBlockProps {
  readonly text: string;
  /** The name for screen readers. */
  readonly label: string;
  readonly limits?: FoldLimits;
  readonly onExpand?: () => void;
  /** True if the parent expanded the text, for example by a shortcut key. */
  readonly isExpanded?: boolean;
}

/** Untrusted text, shown inert. A long text shows its beginning and its end until it is expanded. */
export function CodeBlock({ text, label, limits, onExpand, isExpanded: isOpened = false }: CodeBlockProps): VNode {
  const [isExpanded, setExpanded] = useState(false);
  const folded = isExpanded || isOpened ? undefined : foldText(text, limits);
  if (folded === undefined) {
    return (
      <pre class="code" tabIndex={0} role="region" aria-label={label}>
        <Inert text={text} multiline />
      </pre>
    );
  }
  const expand = (): void => {
    setExpanded(true);
    onExpand?.();
  };
  return (
    <div class="code-folded">
      <pre class="code" tabIndex={0} role="region" aria-label={`${label}, beginning`}>
        <Inert text={folded.head} multiline />
      </pre>
      <div class="code-gap">
        <Button kind="plain" onClick={expand}>
          {`Show ${folded.hidden} more`}
        </Button>
      </div>
      <pre class="code" tabIndex={0} role="region" aria-label={`${label}, end`}>
        <Inert text={folded.tail} multiline />
      </pre>
    </div>
  );
}
