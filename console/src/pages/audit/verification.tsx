import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import type { AuditVerification } from '../../../../src/gateway/api/audit-schema.ts';
import { api } from '../../api.ts';
import { Badge, type Tone } from '../../components/badge.tsx';
import { Button } from '../../components/button.tsx';
import { Inert } from '../../components/inert.tsx';
import { Failure } from '../../components/states.tsx';
import { Ago } from '../../components/time.tsx';
import { useResource } from '../../use-resource.ts';
import { useEvery } from '../../use-every.ts';

const LOOK_EVERY_MS = 1000;
const TONES: Readonly<Record<AuditVerification['state'], Tone>> = {
  never: 'neutral',
  running: 'info',
  ok: 'good',
  bad: 'bad',
};
const WORDS: Readonly<Record<AuditVerification['state'], string>> = {
  never: 'not verified yet',
  running: 'verifying',
  ok: 'whole',
  bad: 'damaged',
};

/** Shows whether a record was changed, removed or inserted, and starts a verification. */
export function Verification(): VNode {
  const { data, error, reload, change } = useResource(
    (signal) => api.get<AuditVerification>('/v1/audit/verification', { signal }),
    [],
  );
  const [failure, setFailure] = useState<unknown>();
  const isRunning = data?.state === 'running';
  useEvery(LOOK_EVERY_MS, () => {
    if (isRunning) reload();
  });
  const start = async (): Promise<void> => {
    setFailure(undefined);
    try {
      const started = await api.post<AuditVerification | undefined>('/v1/audit/verification');
      change((before) => ({ ...before, ...started, state: started?.state ?? 'running' }));
    } catch (caught) {
      setFailure(caught);
    }
  };
  const shown = failure ?? error;
  return (
    <section class="card verification" aria-labelledby="verification-title">
      <h2 id="verification-title">Verification</h2>
      {shown === undefined ? null : <Failure error={shown} onRetry={reload} />}
      <div class="verification-state" role="status">
        {data === undefined ? null : <State verification={data} />}
      </div>
      <Button disabled={isRunning} onClick={() => void start()}>
        Verify now
      </Button>
      <p class="hint verification-means">
        Verifying recomputes the hash chain of every lane and checks the signed heads: whole means that no record was
        changed, removed or slipped in since it was written.
      </p>
      {data?.state === 'bad' ? <Problems problems={data.problems} /> : null}
      {data?.notices?.length ? <Problems problems={data.notices.map((what) => ({ what }))} /> : null}
    </section>
  );
}

function State({ verification: { state, at, checked } }: { readonly verification: AuditVerification }): VNode {
  return (
    <>
      <Badge tone={TONES[state] ?? 'neutral'}>{WORDS[state] ?? state}</Badge>{' '}
      {state === 'never' || at === undefined ? null : (
        <span>
          {`${new Intl.NumberFormat().format(checked)} records, ${state === 'running' ? 'begun' : 'verified'} `}
          <Ago at={at} />
        </span>
      )}
    </>
  );
}

function Problems({ problems }: { readonly problems: AuditVerification['problems'] }): VNode {
  return (
    <ul class="verification-problems">
      {problems.map(({ lane, sequence, what }, index) => (
        <li key={index}>
          <Inert text={sequence === undefined ? what : `Record ${sequence} of lane ${lane}: ${what}`} />
        </li>
      ))}
    </ul>
  );
}
