import type { VNode } from 'preact';
import type { CallDetail } from '../api-types.ts';
import { Badge, StateBadge, type Tone } from '../components/badge.tsx';
import { Facts } from '../components/facts.tsx';
import { CopiedId } from '../components/copy-button.tsx';
import { Inert } from '../components/inert.tsx';
import { Table } from '../components/table.tsx';
import { Ago } from '../components/time.tsx';
import { showDuration, showTime } from '../show-time.ts';
import { callPath } from './call-table.tsx';
import { repeats } from './say-once.ts';

interface DetailProps {
  readonly detail: CallDetail;
}

interface Shown {
  /** Sentences that the page already shows; they are not repeated. */
  readonly shown: readonly string[];
}

/** Who let the call through or stopped it, in the order of the decisions. */
export function Verdicts({ detail, shown }: DetailProps & Shown): VNode {
  if (detail.verdict.length === 0) return <p class="hint">Nobody has looked at it yet.</p>;
  return (
    <ol class="verdicts">
      {detail.verdict.map((part, index) => (
        <li key={index}>
          <Badge tone={toneOf(part.decision)}>
            <Inert text={part.decision} />
          </Badge>
          <span>
            {part.by}
            {part.id === undefined ? null : (
              <>
                {' '}
                <span class="mono">
                  <Inert text={part.id} />
                </span>
              </>
            )}
            {part.reason === undefined || repeats(part.reason, shown) ? null : (
              <span class="hint">
                {' '}
                <Inert text={part.reason} multiline />
              </span>
            )}
          </span>
        </li>
      ))}
    </ol>
  );
}

function toneOf(decision: string): Tone {
  if (decision.startsWith('allow')) return 'good';
  if (decision.startsWith('deny') || decision === 'denied' || decision === 'block' || decision === 'blocked')
    return 'bad';
  return decision.startsWith('ask') || decision.startsWith('warn') ? 'warning' : 'neutral';
}

export function CallFacts({ detail: { call } }: DetailProps): VNode {
  const { totalMs, ranMs } = call;
  const at = (time: number | undefined): string | undefined => (time === undefined ? undefined : showTime(time));
  const text = (value: string | undefined): VNode | undefined =>
    value === undefined ? undefined : <Inert text={value} />;
  return (
    <Facts
      facts={[
        ['Agent', text(call.agent)],
        ['Subject', text(`${call.tenant}/${call.subject}`)],
        ['Channel', text(call.identity.channel)],
        ['Accepted', at(call.acceptedAt)],
        ['Settled', at(call.settledAt)],
        ['Accepted → settled', totalMs === undefined ? undefined : showDuration(totalMs)],
        ['Ran for', ranMs === undefined ? undefined : showDuration(ranMs)],
        ['Effect', text(call.effect)],
        ['Pool', text(call.pool)],
        [
          'Resolved',
          call.resolution === undefined ? undefined : call.resolution === 'ran' ? 'it ran' : 'it did not run',
        ],
      ]}
    />
  );
}

/** All ids and digests by which the call can be found elsewhere, in full length. */
export function CallIds({ detail: { call, parent } }: DetailProps): VNode {
  return (
    <Facts
      facts={[
        ['Call id', <CopiedId key="id" text={call.callId} what="call id" />],
        ['Run', <CopiedId key="run" text={call.run} what="run id" />],
        ['Session', <CopiedId key="session" text={call.session} what="session id" />],
        [
          'Parent',
          parent === undefined ? undefined : (
            <a key="parent" class="mono" href={callPath(parent)}>
              <Inert text={parent} />
            </a>
          ),
        ],
        ['Digest of tool and arguments', <CopiedId key="body" text={call.bodyDigest} what="digest of the call" />],
        [
          'Digest of the tool',
          call.toolDigest === undefined ? undefined : (
            <CopiedId key="tool" text={call.toolDigest} what="digest of the tool" />
          ),
        ],
      ]}
    />
  );
}

/** What is recorded about the call: approvals, attempts and audit records. */
export function CallHistory({ detail, shown }: DetailProps & Shown): VNode {
  return (
    <>
      {detail.approvals.length === 0 ? null : (
        <section class="part card">
          <h2>Approvals</h2>
          <ul class="bullets">
            {detail.approvals.map((approval) => (
              <li key={approval.id}>
                <StateBadge state={approval.state} />{' '}
                <a href={`/console/approvals/${encodeURIComponent(approval.id)}`}>
                  <Inert text={approval.title} />
                </a>{' '}
                <span class="hint">
                  <Ago at={approval.resolvedAt ?? approval.requestedAt} />, asked by{' '}
                  <Inert text={approval.askers.map(({ kind, id }) => `${kind} ${id}`).join(', ')} />
                </span>
              </li>
            ))}
          </ul>
        </section>
      )}
      {detail.attempts.length === 0 ? null : (
        <section class="part card">
          <h2>Attempts</h2>
          <Table
            caption="Attempts"
            rows={detail.attempts}
            keyOf={({ number }) => String(number)}
            columns={[
              { title: 'Number', numeric: true, cell: ({ number }) => number },
              { title: 'Started', cell: ({ startedAt }) => (startedAt === undefined ? '' : showTime(startedAt)) },
              {
                title: 'Ran for',
                cell: ({ durationMs }) => (durationMs === undefined ? '' : showDuration(durationMs)),
              },
              { title: 'Ended', cell: ({ ended }) => <Inert text={ended ?? ''} /> },
            ]}
          />
        </section>
      )}
      {detail.audit.length === 0 ? null : (
        <section class="part card">
          <h2>Audit records</h2>
          <Table
            caption="Audit records"
            rows={detail.audit}
            keyOf={({ lane, sequence }) => `${lane}.${sequence}`}
            columns={[
              { title: 'Record', cell: ({ lane, sequence }) => <span class="mono">{`${lane}.${sequence}`}</span> },
              { title: 'Event', cell: ({ event }) => <span class="mono">{event}</span> },
              { title: 'At', cell: ({ at }) => showTime(at) },
              {
                title: 'What',
                minor: true,
                cell: (record) => (
                  <Inert
                    text={[
                      record.outcome,
                      record.code,
                      record.decision,
                      record.by,
                      ...[record.comment, record.detail].filter((said) => said !== undefined && !repeats(said, shown)),
                    ]
                      .filter((part) => part !== undefined)
                      .join(', ')}
                  />
                ),
              },
            ]}
          />
        </section>
      )}
    </>
  );
}
