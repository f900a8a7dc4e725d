import type { VNode } from 'preact';
import type { CallRow, Stage, StageView } from '../api-types.ts';
import { now } from '../clock.ts';
import { Inert } from '../components/inert.tsx';
import { showCountdown, showDuration, showTime } from '../show-time.ts';

const ORDER: readonly Stage[] = ['accept', 'admit', 'identify', 'gate', 'execute', 'settle', 'answer'];

interface TimelineProps {
  readonly state: CallRow['state'];
  readonly stages: readonly StageView[];
}

/** Every stage in order, including stages without a record. A stage that the call passed twice is listed twice. */
function allStages(known: readonly StageView[]): readonly StageView[] {
  return ORDER.flatMap((stage) => {
    const found = known.filter((one) => one.stage === stage);
    return found.length === 0 ? [{ stage }] : found;
  });
}

/** The stages one below the other, each at its place in time. The durations are text; the bars only repeat them. */
export function Timeline({ state, stages: known }: TimelineProps): VNode {
  // A call that is not settled is in the last stage of the list. That stage lasts until now.
  const current = state === 'settled' ? undefined : known.at(-1);
  const stages = allStages(known);
  const endOf = (stage: StageView): number | undefined =>
    stage === current && stage.startedAt !== undefined ? Math.max(stage.startedAt, now.value) : recordedEndOf(stage);
  const starts = stages.flatMap(({ startedAt }) => (startedAt === undefined ? [] : [startedAt]));
  const from = Math.min(...starts);
  const until = Math.max(...stages.map((stage) => endOf(stage) ?? from));
  const spanMs = Math.max(until - from, 1);
  const percent = (ms: number): string => `${Math.min(100, Math.max(0, (ms / spanMs) * 100))}%`;
  return (
    <ol class="timeline">
      {stages.map((stage, index) => {
        const { startedAt, durationMs } = stage;
        const isCurrent = stage === current;
        const end = endOf(stage);
        return (
          <li
            key={index}
            class={startedAt === undefined && !isCurrent ? 'stage stage-unseen' : 'stage'}
            aria-current={isCurrent ? 'step' : undefined}
          >
            <span class="stage-name">{stage.stage}</span>
            <span class="stage-track" aria-hidden="true">
              {startedAt === undefined ? null : (
                <span
                  class="stage-bar"
                  style={{
                    // Keeps the last bar visible.
                    left: `min(${percent(startedAt - from)}, calc(100% - 3px))`,
                    width: percent(Math.min(durationMs ?? Infinity, (end ?? from) - startedAt)),
                  }}
                />
              )}
            </span>
            <span class="stage-time">
              {durationMs !== undefined
                ? showDuration(durationMs)
                : isCurrent && startedAt !== undefined
                  ? showCountdown(end! - startedAt)
                  : ''}
            </span>
            <span class="stage-result">
              <Inert text={stage.result ?? ''} />
              {isCurrent && startedAt !== undefined ? ` since ${showTime(startedAt)}` : ''}
            </span>
          </li>
        );
      })}
    </ol>
  );
}

function recordedEndOf({ startedAt, endedAt, durationMs }: StageView): number | undefined {
  return endedAt ?? (startedAt === undefined ? undefined : startedAt + (durationMs ?? 0));
}
