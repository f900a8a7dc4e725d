import { effect, signal } from '@preact/signals';
import { readSetting, writeSetting } from './settings.ts';

const THEMES = ['system', 'light', 'dark'] as const;
export type Theme = (typeof THEMES)[number];

const stored = readSetting('theme');
export const theme = signal<Theme>(THEMES.find((name) => name === stored) ?? 'system');

export function nextTheme(): void {
  theme.value = THEMES[(THEMES.indexOf(theme.value) + 1) % THEMES.length] ?? 'system';
}

/** Keeps the page's colours and the stored preference in sync with the signal. */
export function applyTheme(): void {
  effect(() => {
    if (theme.value === 'system') delete document.documentElement.dataset['theme'];
    else document.documentElement.dataset['theme'] = theme.value;
    writeSetting('theme', theme.value);
  });
}
