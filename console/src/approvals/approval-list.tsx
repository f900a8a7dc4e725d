import type { VNode } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { ListedApprovalView } from '../api-types.ts';
import { SeverityBadge, StateBadge } from '../components/badge.tsx';
import { Inert, ShortId } from '../components/inert.tsx';
import { Ago, TimeLeft } from '../components/time.tsx';
import { distinguish } from './distinguish.ts';

export interface ApprovalListProps {
  readonly approvals: readonly ListedApprovalView[];
  readonly currentId: string | undefined;
  readonly selected: ReadonlySet<string>;
  /** The address at which a question is open. */
  readonly pathOf: (id: string) => string;
  readonly onSelect: (id: string) => void;
}

export function ApprovalList({ approvals, currentId, selected, pathOf, onSelect }: ApprovalListProps): VNode {
  const lines = distinguish(approvals);
  return (
    <ul class="approval-list card" aria-label="Pending questions">
      {approvals.map((approval) => (
        <ApprovalItem
          key={approval.id}
          approval={approval}
          line={lines.get(approval.id) ?? ''}
          href={pathOf(approval.id)}
          isCurrent={approval.id === currentId}
          isSelected={selected.has(approval.id)}
          onSelect={onSelect}
        />
      ))}
    </ul>
  );
}

interface ApprovalItemProps {
  readonly approval: ListedApprovalView;
  /** The arguments of the question in one short line, made by `distinguish`. */
  readonly line: string;
  readonly href: string;
  readonly isCurrent: boolean;
  readonly isSelected: boolean;
  readonly onSelect: (id: string) => void;
}

function ApprovalItem({ approval, line, href, isCurrent, isSelected, onSelect }: ApprovalItemProps): VNode {
  const ref = useRef<HTMLLIElement>(null);
  useEffect(() => {
    if (isCurrent) ref.current?.scrollIntoView({ block: 'nearest' });
  }, [isCurrent]);
  const isPending = approval.state === 'pending';
  return (
    <li ref={ref} class={`approval-item${isCurrent ? ' approval-current' : ''}`}>
      <input
        type="checkbox"
        class="row-check"
        aria-label={`Select ${approval.tool}, ${line}`}
        checked={isSelected}
        disabled={!isPending}
        onChange={() => onSelect(approval.id)}
      />
      <a href={href} aria-current={isCurrent ? 'true' : undefined}>
        <span class="approval-line">
          <strong class="mono">
            <Inert text={approval.tool} />
          </strong>
          {isPending ? <SeverityBadge severity={approval.severity} /> : <StateBadge state={approval.state} />}
        </span>
        <span class="approval-title">
          <Inert text={approval.title} />
        </span>
        {line === '' ? null : (
          <span class="approval-arguments">
            <Inert text={line} />
          </span>
        )}
        <span class="approval-line hint">
          <Inert text={`${approval.agent} for ${approval.subject}`} />
          {isPending ? <TimeLeft until={approval.expiresAt} /> : null}
        </span>
        <span class="approval-line hint">
          <Ago at={approval.requestedAt} />
          <ShortId text={approval.id} />
        </span>
      </a>
    </li>
  );
}
