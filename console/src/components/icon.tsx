import type { VNode } from 'preact';

const PATHS = {
  door: 'M5 21V9a7 7 0 0 1 14 0v12h-4V10a3 3 0 0 0-6 0v11z',
  overview: 'M4 4h7v9H4zM13 4h7v5h-7zM4 15h7v5H4zM13 11h7v9h-7z',
  approvals: 'M4 5h16v11H9l-5 4zM8 10.5l2.5 2.5 5-5',
  calls: 'M4 6h10M4 12h16M4 18h7M18 4v4M15 16v4',
  access: 'M4 4h6v6H4zM14 4h6v6h-6zM4 14h6v6H4zM14 17l2.5 2.5L20 15',
  fleet: 'M4 19V9M9.3 19V5M14.6 19v-7M20 19V8',
  grants: 'M14 10a4 4 0 1 0-3.5 3.97L12 15.5h2v2h2v2h4v-3.5L14 10zM8 8h.01',
  audit: 'M6 3h9l4 4v14H6zM9 11h7M9 15h7M9 7h3',
  tokens: 'M4 7h16v10H4zM4 11h16M8 15h3',
  system: 'M4 5h16v11H4zM9 20h6M12 16v4',
  light:
    'M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM12 2v2M12 20v2M2 12h2M20 12h2M5 5l1.4 1.4M17.6 17.6 19 19M5 19l1.4-1.4M17.6 6.4 19 5',
  dark: 'M20 14.5A8 8 0 1 1 9.5 4a6.5 6.5 0 0 0 10.5 10.5z',
} as const;

export type IconName = keyof typeof PATHS;

/** A picture next to a word; screen readers skip it. */
export function Icon({ name }: { readonly name: IconName }): VNode {
  return (
    <svg class="icon" viewBox="0 0 24 24" aria-hidden="true" focusable="false">
      <path d={PATHS[name]} />
    </svg>
  );
}
