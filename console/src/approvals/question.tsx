import type { VNode } from 'preact';
import type { ApprovalView, ShownArguments } from '../api-types.ts';
import { SeverityBadge, StateBadge } from '../components/badge.tsx';
import { CodeBlock } from '../components/code-block.tsx';
import { Facts } from '../components/facts.tsx';
import { Inert, Short } from '../components/inert.tsx';
import { Ago, TimeLeft } from '../components/time.tsx';
import { showBytes } from '../show-time.ts';
import { ARGUMENT_LIMITS } from './argument-limits.ts';

export interface QuestionProps {
  readonly approval: ApprovalView;
  readonly onExpand: () => void;
  /** True after a shortcut key was pressed that shows the arguments completely. */
  readonly isExpanded: boolean;
}

/** One question with everything a person needs to decide it. The headings come in the order: what, why, who. */
export function Question({ approval, onExpand, isExpanded }: QuestionProps): VNode {
  return (
    <>
      <header class="question-head">
        <div class="question-badges">
          <SeverityBadge severity={approval.severity} />
          {approval.state === 'pending' ? (
            <TimeLeft until={approval.expiresAt} />
          ) : (
            <StateBadge state={approval.state} />
          )}
          <span class="hint">
            asked <Ago at={approval.requestedAt} />
          </span>
        </div>
        <h2 tabIndex={-1}>
          <Inert text={approval.title} />
        </h2>
        {approval.description === '' ? null : (
          <p class="prose">
            <Inert text={approval.description} multiline />
          </p>
        )}
      </header>
      <section class="question-part">
        <h3>{approval.state === 'pending' ? 'What will run' : 'What it was about'}</h3>
        <p class="question-tool mono">
          <Inert text={approval.tool} />
        </p>
        <WhatRuns approval={approval} onExpand={onExpand} isExpanded={isExpanded} />
        {approval.editedArguments === undefined ? null : (
          <>
            <h3>Allowed instead</h3>
            <Arguments shown={approval.editedArguments} onExpand={() => {}} isExpanded={false} />
          </>
        )}
      </section>
      <Why approval={approval} />
      <Who approval={approval} />
      <Votes approval={approval} />
    </>
  );
}

interface WhatRunsProps extends Omit<QuestionProps, 'approval'> {
  readonly approval: Pick<ApprovalView, 'arguments' | 'answers'>;
}

/** Everything that the tool gets from the caller: the arguments, and the answers of the caller's user to the tool's questions. */
export function WhatRuns({ approval: { arguments: args, answers }, onExpand, isExpanded }: WhatRunsProps): VNode {
  return (
    <>
      <Arguments shown={args} onExpand={onExpand} isExpanded={isExpanded} />
      {answers === undefined ? null : (
        <>
          <h3>Answers the caller brings along</h3>
          <Arguments shown={answers} label="Answers" onExpand={onExpand} isExpanded={isExpanded} />
        </>
      )}
    </>
  );
}

interface ArgumentsProps {
  readonly shown: ShownArguments;
  readonly label?: string;
  readonly onExpand: () => void;
  readonly isExpanded: boolean;
}

function Arguments({ shown, label = 'Arguments', onExpand, isExpanded }: ArgumentsProps): VNode {
  return (
    <>
      <CodeBlock
        text={shown.shown}
        label={label}
        limits={ARGUMENT_LIMITS}
        onExpand={onExpand}
        isExpanded={isExpanded}
      />
      <p class="hint">
        {showBytes(shown.bytes)}
        {shown.cut === undefined ? '' : `, ${shown.cut} characters not shown here`}
        {shown.digest === undefined ? null : (
          <>
            , digest{' '}
            <span class="mono">
              <Inert text={shown.digest} />
            </span>
          </>
        )}
        {shown.redacted ? '. Some of it is masked; each mark tells how long the text is.' : ''}
        {shown.changedBy === undefined || shown.changedBy.length === 0 ? null : (
          <>
            . Changed by <Inert text={shown.changedBy.join(', ')} />.
          </>
        )}
      </p>
    </>
  );
}

function Why({ approval }: { readonly approval: ApprovalView }): VNode {
  return (
    <section class="question-part">
      <h3>Why it is asked</h3>
      <ul class="bullets">
        {approval.reasons.map((reason, index) => (
          <li key={index}>
            <Inert text={reason} multiline />
          </li>
        ))}
        {approval.askers.map(({ kind, id }) => (
          <li key={`${kind} ${id}`} class="hint">
            {kind}{' '}
            <span class="mono">
              <Inert text={id} />
            </span>
          </li>
        ))}
      </ul>
      {approval.detail === undefined ? null : <CodeBlock text={approval.detail} label="Detail for approvers" />}
    </section>
  );
}

function Who({ approval }: { readonly approval: ApprovalView }): VNode {
  const { identity } = approval;
  return (
    <section class="question-part">
      <h3>Who asks</h3>
      <Facts
        facts={[
          ['Agent', <Inert key="agent" text={approval.agent} />],
          ['Subject', <Inert key="subject" text={`${approval.tenant}/${approval.subject}`} />],
          ['Channel', identity.channel === undefined ? undefined : <Inert key="channel" text={identity.channel} />],
          ['Space', identity.space === undefined ? undefined : <Inert key="space" text={identity.space} />],
          ['Platform', identity.platform === undefined ? undefined : <Inert key="platform" text={identity.platform} />],
          [
            'Delegated by',
            identity.delegators === undefined ? undefined : (
              <Inert key="delegators" text={identity.delegators.join(' → ')} />
            ),
          ],
          ['Session', <Short key="session" text={approval.session} length={20} />],
          [
            'Call',
            <a key="call" href={`/console/calls/${encodeURIComponent(approval.callId)}`}>
              <Short text={approval.callId} length={24} />
            </a>,
          ],
        ]}
      />
    </section>
  );
}

function Votes({ approval }: { readonly approval: ApprovalView }): VNode | null {
  if (approval.votes.length === 0 && approval.quorum <= 1) return null;
  return (
    <section class="question-part">
      <h3>{approval.quorum > 1 ? `Decisions (${approval.quorum} must say yes)` : 'Decision'}</h3>
      <ul class="bullets">
        {approval.votes.map((vote, index) => (
          <li key={index}>
            <strong>{vote.decision}</strong> by <Inert text={vote.by.name} /> <Ago at={vote.at} />
            {vote.comment === undefined ? null : (
              <>
                {': '}
                <Inert text={vote.comment} multiline />
              </>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}
