import { signal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { readSetting, writeSetting } from './settings.ts';

export interface Shortcut {
  /** One key (`j`, `Enter`, `?`), or two keys in sequence (`g a`). */
  readonly keys: string;
  readonly label: string;
  readonly run: (event: KeyboardEvent) => void;
}

export interface ShortcutGroup {
  readonly title: string;
  readonly shortcuts: readonly Shortcut[];
}

const SEQUENCE_MS = 1200;
const groups = signal<readonly ShortcutGroup[]>([]);

/** The shortcuts that work on the current page; the help dialog lists them. */
export const shownGroups = groups;

/** Whether shortcuts are on. Single keys interfere with speech input, so people who use it can turn them off. */
export const areShortcutsOn = signal(readSetting('shortcuts') !== 'off');

export function turnShortcuts(isOn: boolean): void {
  areShortcutsOn.value = isOn;
  writeSetting('shortcuts', isOn ? 'on' : 'off');
}

/** Makes the keys work while the component is shown, except in fields and dialogs. */
export function useShortcuts(title: string, shortcuts: readonly Shortcut[]): void {
  const latest = useRef(shortcuts);
  latest.current = shortcuts;
  useEffect(() => {
    const group: ShortcutGroup = {
      title,
      get shortcuts() {
        return latest.current;
      },
    };
    groups.value = [...groups.peek(), group];
    return () => {
      groups.value = groups.peek().filter((one) => one !== group);
    };
  }, [title]);
}

let firstKey = '';
let firstAt = 0;

function onKeyDown(event: KeyboardEvent): void {
  if (!areShortcutsOn.value || event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
  if (isTyping(event.target) || document.querySelector('dialog[open]') !== null) return;
  const sequence = event.timeStamp - firstAt < SEQUENCE_MS ? `${firstKey} ${event.key}` : '';
  // The keys of the page take precedence over those of the surrounding frame.
  const all = groups
    .peek()
    .flatMap((group) => group.shortcuts)
    .reverse();
  const found = all.find(({ keys }) => keys === sequence) ?? all.find(({ keys }) => keys === event.key);
  const isFirst = found === undefined && all.some(({ keys }) => keys.startsWith(`${event.key} `));
  firstKey = isFirst ? event.key : '';
  firstAt = event.timeStamp;
  if (found === undefined || leavesItToTheElement(event)) return;
  event.preventDefault();
  found.run(event);
}

function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.closest('input:not([type=checkbox]), textarea, select') !== null;
}

/** Enter and space on a focused button or link are left to that element. */
function leavesItToTheElement(event: KeyboardEvent): boolean {
  if (event.key !== 'Enter' && event.key !== ' ') return false;
  return event.target instanceof HTMLElement && event.target.closest('a, button, summary, input') !== null;
}

addEventListener('keydown', onKeyDown);
