import type { Rungs } from '../../domain/loop-settings.ts';
import type { ToolDeclaration } from '../../domain/tool.ts';
import type { LoopWindow } from './loop-window.ts';
import type { Detector } from './loop-verdict.ts';
import type { HeldSettings } from './stricter.ts';

/** The declaration of the tool, or only its id when there is no such tool. */
export type AskedTool = { readonly id: string } & Pick<ToolDeclaration, 'poll' | 'cost'>;

/** What a detector says of the call that is asked about. */
export interface Finding {
  readonly detector: Detector;
  readonly level: 'warn' | 'block';
  readonly count: number;
  readonly period?: number;
}

export type Detect = (window: LoopWindow, settings: HeldSettings, tool: AskedTool) => Finding | undefined;

const BUCKET = 10;

/**
 * `count` calls have ended and prove the loop; `seen` counts those under way too. Each new call raises `seen` by one, so that the
 * warning is given once for every ten of them, also when several calls are sent at once.
 */
export function climb(rungs: Rungs, detector: Detector, count: number, seen: number): Finding | undefined {
  if (count >= rungs.block) return { detector, level: 'block', count };
  if (seen < rungs.warn || (seen - rungs.warn) % BUCKET !== 0) return undefined;
  return { detector, level: 'warn', count: seen };
}
