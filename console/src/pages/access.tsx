import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { withQuery } from '../api.ts';
import { PageHead } from '../components/page-head.tsx';
import { MatrixView } from './access/matrix-view.tsx';
import { Simulator } from './access/simulator.tsx';
import './access/access.css';

/** `sallyport call` and a fresh `sallyport dev` act for this subject. */
const USUAL_SUBJECT = 'local';

export function Access(): VNode {
  const { query, route } = useLocation();
  const isTrying = query['view'] === 'try';
  const [tenant, setTenant] = useState(query['tenant'] ?? 'default');
  const [subject, setSubject] = useState(query['subject'] ?? USUAL_SUBJECT);
  const addressOf = (view: string | undefined, more: Record<string, string> = {}): string =>
    withQuery('/console/access', { view, tenant: tenant === 'default' ? undefined : tenant, subject, ...more });
  return (
    <>
      <PageHead title="Access">
        <nav class="tabs" aria-label="Views of access">
          <a href={addressOf(undefined)} aria-current={isTrying ? undefined : 'page'}>
            Matrix
          </a>
          <a href={addressOf('try')} aria-current={isTrying ? 'page' : undefined}>
            Would this be allowed?
          </a>
        </nav>
      </PageHead>
      <div class="access-for">
        <Typed label="Subject" value={subject} fallback={USUAL_SUBJECT} onChange={setSubject} />
        <Typed label="Tenant" value={tenant} fallback="default" onChange={setTenant} />
        <p class="hint">For whom the agents would call. Nothing here runs a tool.</p>
      </div>
      {isTrying ? (
        <Simulator
          key={`${query['agent']} ${query['tool']}`}
          tenant={tenant}
          subject={subject}
          agent={query['agent'] ?? ''}
          tool={query['tool'] ?? ''}
        />
      ) : (
        <MatrixView tenant={tenant} subject={subject} onTry={(cell) => route(addressOf('try', cell))} />
      )}
    </>
  );
}

interface TypedProps {
  readonly label: string;
  readonly value: string;
  readonly fallback: string;
  readonly onChange: (value: string) => void;
}

/** Taken over when it is finished, not with every letter: each change asks the gateway. */
function Typed({ label, value, fallback, onChange }: TypedProps): VNode {
  return (
    <label class="field">
      {label}
      <input
        value={value}
        autocomplete="off"
        maxLength={256}
        onChange={({ currentTarget }) => onChange(currentTarget.value.trim() || fallback)}
      />
    </label>
  );
}
