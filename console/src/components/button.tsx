import type { ComponentChildren, VNode } from 'preact';

export interface ButtonProps {
  readonly children: ComponentChildren;
  readonly onClick?: (event: MouseEvent) => void;
  readonly kind?: 'plain' | 'primary' | 'danger' | 'quiet';
  readonly type?: 'button' | 'submit';
  readonly disabled?: boolean;
  /** The name for screen readers, if the text alone is not enough. */
  readonly label?: string;
  readonly pressed?: boolean;
  /** The key that does the same as the button. */
  readonly shortcut?: string | undefined;
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
