import { codeOf } from '../../domain/call/history.ts';
import { UNKNOWN_TOOL } from './failure-class.ts';
import { climb, type Detect } from './finding.ts';
import { BAD, OK, OPEN, type LoopWindow } from './loop-window.ts';

const UNKNOWN = codeOf(UNKNOWN_TOOL);

function hasNoFailure({ bad, blocked }: LoopWindow): boolean {
  return bad === 0 && blocked === 0;
}

/** Detects repeated calls of a tool that does not exist. Calling it again will not make it exist. */
export const detectUnknownTool: Detect = (window, settings) => {
  if (settings.unknownTool === false || hasNoFailure(window)) return undefined;
  const { tool, ownTool, result, state, at } = window;
  let count = window.blockedBy['unknown-tool'];
  let seen = count;
  let laterAt = -Infinity;
  for (let index = window.length - 1; index >= 0; index -= 1) {
    if (tool[index] !== ownTool) continue;
    if (state[index] !== OPEN && result[index] !== UNKNOWN) break;
    const step = laterAt - at[index]! < settings.paceMs ? 1 : 0;
    laterAt = at[index]!;
    seen += step;
    if (state[index] !== OPEN) count += step;
  }
  return count === 0 ? undefined : climb(settings.unknownTool, 'unknown-tool', count, seen);
};

/** Detects that one tool fails in the same way again and again. Its arguments may change: only the class of the failure counts. */
export const detectSameFailure: Detect = (window, settings) => {
  if (settings.sameFailure === false || hasNoFailure(window)) return undefined;
  const { tool, ownTool, result, state, at } = window;
  let count = window.blockedBy['same-failure'];
  let seen = count;
  let newest: number | undefined;
  let laterAt = -Infinity;
  for (let index = window.length - 1; index >= 0; index -= 1) {
    if (tool[index] !== ownTool) continue;
    if (state[index] === OK) break;
    if (state[index] === BAD) {
      newest ??= result[index]!;
      if (result[index] !== newest) break;
    }
    const step = laterAt - at[index]! < settings.paceMs ? 1 : 0;
    laterAt = at[index]!;
    seen += step;
    if (state[index] === BAD) count += step;
  }
  return count === 0 ? undefined : climb(settings.sameFailure, 'same-failure', count, seen);
};

/**
 * Detects that all recent calls failed. Only tools that failed are blocked: a tool that was not tried yet may solve the problem, and its
 * success ends the streak.
 */
export const detectAnyFailure: Detect = (window, settings) => {
  if (settings.anyFailure === false || hasNoFailure(window)) return undefined;
  const { tool, ownTool, state, at } = window;
  let count = window.blockedBy['any-failure'];
  let open = 0;
  let isTried = count > 0;
  let laterAt = -Infinity;
  for (let index = window.length - 1; index >= 0; index -= 1) {
    if (state[index] === OK) break;
    const step = laterAt - at[index]! < settings.paceMs ? 1 : 0;
    laterAt = at[index]!;
    if (state[index] === OPEN) {
      open += step;
      continue;
    }
    count += step;
    isTried ||= tool[index] === ownTool;
  }
  return isTried ? climb(settings.anyFailure, 'any-failure', count, count + open) : undefined;
};
