import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import type { MadeToken } from '../../../../src/gateway/api/token-schema.ts';
import { api } from '../../api.ts';
import { Button } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { Failure } from '../../components/states.tsx';
import { opensSessions, readTokenForm, SCOPES, type TokenForm } from './read-token-form.ts';

export interface NewTokenDialogProps {
  readonly onMade: (made: MadeToken) => void;
  readonly onClose: () => void;
}

const FIRST: TokenForm = {
  name: '',
  scopes: ['agent'],
  agent: '',
  subject: '',
  tenant: 'default',
  decidesAs: '',
  unattended: false,
  days: '30',
};

export function NewTokenDialog({ onMade, onClose }: NewTokenDialogProps): VNode {
  const [form, setForm] = useState(FIRST);
  const [error, setError] = useState<unknown>();
  const set = (change: Partial<TokenForm>): void => setForm((before) => ({ ...before, ...change }));
  const make = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    setError(undefined);
    try {
      onMade(await api.post<MadeToken>('/v1/tokens', readTokenForm(form)));
    } catch (caught) {
      setError(caught);
    }
  };
  const isAgent = form.scopes.includes('agent');
  return (
    <Dialog title="New token" onClose={onClose}>
      <form class="token-form" onSubmit={(event) => void make(event)}>
        <Text label="Name, for people" value={form.name} onInput={(name) => set({ name })} />
        <fieldset class="scopes">
          <legend>What its bearer may do</legend>
          {SCOPES.map(({ scope, means }) => (
            <label class="check" key={scope}>
              <input
                type="checkbox"
                checked={form.scopes.includes(scope)}
                onChange={({ currentTarget: { checked } }) =>
                  set({
                    scopes: SCOPES.map((one) => one.scope).filter((one) =>
                      one === scope ? checked : form.scopes.includes(one),
                    ),
                  })
                }
              />
              <span>
                <b>{scope}</b>: {means}
              </span>
            </label>
          ))}
        </fieldset>
        {isAgent ? (
          <div class="token-identity">
            <Text label="Agent" value={form.agent} onInput={(agent) => set({ agent })} />
            <Text label="Subject" value={form.subject} onInput={(subject) => set({ subject })} />
            <Text label="Tenant" value={form.tenant} onInput={(tenant) => set({ tenant })} />
          </div>
        ) : null}
        {opensSessions(form.scopes) ? (
          <label class="check">
            <input
              type="checkbox"
              checked={form.unattended}
              onChange={({ currentTarget: { checked } }) => set({ unattended: checked })}
            />
            <span>
              <b>unattended</b>: no person watches; what would ask one is denied at once
            </span>
          </label>
        ) : null}
        {form.scopes.includes('approver') ? (
          <Text
            label="Decides as TENANT/SUBJECT (empty: as an operator)"
            value={form.decidesAs}
            optional
            onInput={(decidesAs) => set({ decidesAs })}
          />
        ) : null}
        <label class="field">
          Days until it ends
          <input
            type="number"
            min={1}
            max={366}
            required
            value={form.days}
            onInput={({ currentTarget }) => set({ days: currentTarget.value })}
          />
        </label>
        {error === undefined ? null : <Failure error={error} />}
        <div class="dialog-actions">
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" type="submit" disabled={form.scopes.length === 0}>
            Make it
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

interface TextProps {
  readonly label: string;
  readonly value: string;
  readonly optional?: boolean;
  readonly onInput: (value: string) => void;
}

function Text({ label, value, optional = false, onInput }: TextProps): VNode {
  return (
    <label class="field">
      {label}
      <input
        value={value}
        required={!optional}
        maxLength={100}
        autocomplete="off"
        onInput={({ currentTarget }) => onInput(currentTarget.value)}
      />
    </label>
  );
}
