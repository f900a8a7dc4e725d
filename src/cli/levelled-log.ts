import type { Log } from '../domain/ports/log.ts';
import { asTyped } from './own-command.ts';
import type { Terminal } from './terminal.ts';
import { toSafeJson } from '../base/escape-text.ts';

const LEVELS = ['debug', 'info', 'warn', 'error'] as const;
export type LogLevel = (typeof LEVELS)[number];

export interface LevelledLog extends Log {
  /** May be changed at any time. */
  level: LogLevel;
  /** Calls the listener at once with the current level, and again each time the level is set. */
  onLevel(listener: (level: LogLevel) => void): void;
}

/** A log whose level a new configuration can change while it is in use. Commands in its entries are shown as this user types them. */
export function createLevelledLog(level: LogLevel, target: Log): LevelledLog {
  let current = level;
  const listeners: ((level: LogLevel) => void)[] = [];
  const write =
    (own: LogLevel) =>
    (facts: object, message: string): void => {
      if (LEVELS.indexOf(own) >= LEVELS.indexOf(current)) target[own](typed(facts), asTyped(message));
    };
  return {
    get level() {
      return current;
    },
    set level(next) {
      current = next;
      for (const listener of listeners) listener(next);
    },
    onLevel(listener) {
      listeners.push(listener);
      listener(current);
    },
    debug: write('debug'),
    info: write('info'),
    warn: write('warn'),
    error: write('error'),
  };
}

function typed(facts: object): object {
  const entries = Object.entries(facts);
  if (!entries.some(([, value]) => typeof value === 'string' && value.includes('sallyport '))) return facts;
  return Object.fromEntries(entries.map(([name, value]) => [name, typeof value === 'string' ? asTyped(value) : value]));
}

const LABELS = { warn: 'warning', error: 'error' } as const;

/** A log for a person who watches the terminal: one readable line per entry, on standard error. */
export function createReadableLog(terminal: Terminal): Log {
  const write =
    (level: LogLevel) =>
    (facts: object, message: string): void => {
      const shown = Object.entries(facts).map(([name, value]) => `${name}=${describe(value)}`);
      const time = new Date().toISOString().slice(11, 19);
      const text = `${message} ${shown.join(' ')}`.trimEnd();
      // Only warnings and errors get a label in front.
      if (level === 'error' || level === 'warn') terminal.warn(`${time} ${text}`, LABELS[level]);
      else terminal.note(`${time} ${level}: ${text}`);
    };
  return { debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') };
}

function describe(value: unknown): string {
  if (value instanceof Error) return value.message;
  return typeof value === 'string' ? value : toSafeJson(value).replaceAll(/\s+/g, ' ');
}
