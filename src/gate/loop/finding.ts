import type { LoopLevels } from '../../domain/policy/loop-settings.ts';
import type { ToolDeclaration } from '../../domain/tool/tool.ts';
import type { LoopWindow } from './loop-window.ts';
import type { Detector } from '../../domain/policy/loop-verdict.ts';
import type { EffectiveLoopSettings } from './stricter.ts';

/** The declaration of the tool, or only its id if there is no such tool. */
export type AskedTool = { readonly id: string } & Pick<ToolDeclaration, 'poll' | 'cost'>;

/** What a detector found out about the call that is checked. */
export interface Finding {
  readonly detector: Detector;
  readonly level: 'warn' | 'block';
  readonly count: number;
  readonly period?: number;
}

export type Detect = (window: LoopWindow, settings: EffectiveLoopSettings, tool: AskedTool) => Finding | undefined;

const BUCKET = 10;

/**
 * Compares the counts with the thresholds. `count` calls have ended and prove the loop; `seen` also includes open calls. Each new call
 * raises `seen` by one, so a warning is given only at every tenth call, even if several calls are sent at once.
 */
export function climb(rungs: LoopLevels, detector: Detector, count: number, seen: number): Finding | undefined {
  if (count >= rungs.block) return { detector, level: 'block', count };
  if (seen < rungs.warn || (seen - rungs.warn) % BUCKET !== 0) return undefined;
  return { detector, level: 'warn', count: seen };
}
