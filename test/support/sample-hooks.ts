import type { HookEventName, HookFailed } from '../../src/domain/policy/hook.ts';
import type { JsonObject } from '../../src/base/json.ts';
import { createHookSet, type HookSet } from '../../src/gate/hooks/hook-set.ts';
import { registerHook, type HookParts } from '../../src/gate/hooks/registered-hook.ts';
import type { BeforeNeeds } from '../../src/gate/hooks/run-before-hooks.ts';
import type { HookedCall } from '../../src/domain/ports/gate-hooks.ts';
import type { Log } from '../../src/domain/ports/log.ts';
import { canonicalJson } from '../../src/base/canonical-json.ts';

/** Hooks as a loader would have registered them. The order of the list is the order of registration. */
export function hookSet(...hooks: (Omit<HookParts, 'on'> & { readonly on?: HookEventName })[]): HookSet {
  return createHookSet(hooks.map((hook) => registerHook({ on: 'before_tool_call', ...hook })));
}

export function hookedCall(overrides: Partial<HookedCall> = {}): HookedCall {
  const given = overrides.arguments ?? { path: '/srv/a', mode: 'w' };
  return {
    callId: 'call-1',
    session: 'session-1',
    run: 'run-1',
    identity: { tenant: 'default', subject: 'ada', agent: 'assistant' },
    tool: { id: 'files.write', effect: 'unsafe', privileged: false },
    arguments: given,
    canonical: overrides.canonical ?? canonicalJson(given),
    ...overrides,
  };
}

export interface RecordedNeeds extends BeforeNeeds {
  readonly lines: { readonly level: string; readonly facts: Record<string, unknown>; readonly message: string }[];
  readonly events: HookFailed[];
  readonly validated: JsonObject[];
}

/** What hooks need; everything they do with it is recorded. Arguments are valid unless `path` is not a text. */
export function recordingNeeds(overrides: Partial<BeforeNeeds> = {}): RecordedNeeds {
  const lines: RecordedNeeds['lines'] = [];
  const events: HookFailed[] = [];
  const validated: JsonObject[] = [];
  const write =
    (level: string) =>
    (facts: object, message: string): void =>
      void lines.push({ level, facts: facts as Record<string, unknown>, message });
  const log: Log = { debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') };
  const read: BeforeNeeds['read'] = (value, canonical) => {
    validated.push(value);
    if (typeof value['path'] !== 'string') return { kind: 'wrong', problems: ['path: must be string'] };
    return { kind: 'judged', arguments: value, canonical };
  };
  return { lines, events, validated, log, read, onEvent: (event) => void events.push(event), ...overrides };
}
