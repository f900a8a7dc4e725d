import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { withQuery } from '../api.ts';
import { PageHead } from '../components/page-head.tsx';
import { AgentsView } from './access/agents-view.tsx';
import { MatrixView } from './access/matrix-view.tsx';
import { Simulator } from './access/simulator.tsx';
import './access/access.css';

/** The default subject: calls of the command `sallyport call` belong to it, and so do all in a new folder of `sallyport dev`. */
const USUAL_SUBJECT = 'local';

const VIEWS = [
  { view: 'matrix', title: 'Matrix' },
  { view: 'try', title: 'Would this be allowed?' },
  { view: 'agents', title: 'Agents' },
] as const;

export function Access(): VNode {
  const { query, route } = useLocation();
  const { view } = VIEWS.find((one) => one.view === query['view']) ?? VIEWS[0];
  const [tenant, setTenant] = useState(query['tenant'] ?? 'default');
  const [subject, setSubject] = useState(query['subject'] ?? USUAL_SUBJECT);
  const addressOf = (to: string, more: Record<string, string> = {}): string =>
    withQuery('/console/access', { view: to, tenant: tenant === 'default' ? undefined : tenant, subject, ...more });
  return (
    <>
      <PageHead title="Access">
        <nav class="tabs" aria-label="Views of access">
          {VIEWS.map((one) => (
            <a key={one.view} href={addressOf(one.view)} aria-current={one.view === view ? 'page' : undefined}>
              {one.title}
            </a>
          ))}
        </nav>
      </PageHead>
      {view === 'agents' ? (
        <AgentsView />
      ) : (
        <div class="access-for">
          <Typed label="Subject" value={subject} fallback={USUAL_SUBJECT} onChange={setSubject} />
          <Typed label="Tenant" value={tenant} fallback="default" onChange={setTenant} />
          <p class="hint">For whom the agents would call. Nothing here runs a tool.</p>
        </div>
      )}
      {view === 'matrix' ? (
        <MatrixView tenant={tenant} subject={subject} onTry={(cell) => route(addressOf('try', cell))} />
      ) : null}
      {view === 'try' ? (
        <Simulator
          key={`${query['agent']} ${query['tool']}`}
          tenant={tenant}
          subject={subject}
          agent={query['agent'] ?? ''}
          tool={query['tool'] ?? ''}
        />
      ) : null}
    </>
  );
}

interface TypedProps {
  readonly label: string;
  readonly value: string;
  readonly fallback: string;
  readonly onChange: (value: string) => void;
}

/** A field whose value is applied when the person has finished typing, because each change sends a request to the gateway. */
function Typed({ label, value, fallback, onChange }: TypedProps): VNode {
  return (
    <label class="field">
      {label}
      <input
        key={value}
        defaultValue={value}
        autocomplete="off"
        maxLength={256}
        onChange={({ currentTarget }) => onChange(currentTarget.value.trim() || fallback)}
      />
    </label>
  );
}
