import type { ComponentChildren, VNode } from 'preact';

export interface ButtonProps {
  readonly children: ComponentChildren;
  readonly onClick?: (event: MouseEvent) => void;
  readonly kind?: 'plain' | 'primary' | 'danger' | 'quiet';
  readonly type?: 'button' | 'submit';
  readonly disabled?: boolean;
  /** Where the text alone does not say it. */
  readonly label?: string;
  readonly pressed?: boolean;
  /** Key that does the same. */
  readonly shortcut?: string;
  readonly title?: string;
}

export function Button(props: ButtonProps): VNode {
  const {
    children,
    onClick,
    kind = 'plain',
    type = 'button',
    disabled = false,
    label,
    pressed,
    shortcut,
    title,
  } = props;
  return (
    <button
      type={type}
      class={`button button-${kind}`}
      disabled={disabled}
      aria-label={label}
      aria-pressed={pressed}
      aria-keyshortcuts={shortcut}
      title={title}
      onClick={onClick}
    >
      {children}
      {shortcut === undefined ? null : <kbd aria-hidden="true">{shortcut}</kbd>}
    </button>
  );
}
