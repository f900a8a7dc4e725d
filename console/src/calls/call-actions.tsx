import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { api, apiPath, Problem } from '../api.ts';
import type { CallDetail } from '../api-types.ts';
import { Button } from '../components/button.tsx';
import { Dialog } from '../components/dialog.tsx';
import { showToast } from '../components/toast.tsx';

export interface CallActionsProps {
  readonly detail: CallDetail;
  readonly onDone: () => void;
}

/** Cancels a call that is under way, or resolves an indeterminate call. Both ask for confirmation first. */
export function CallActions({ detail, onDone }: CallActionsProps): VNode | null {
  const [asked, setAsked] = useState<'cancel' | 'resolve'>();
  const { call } = detail;
  const send = async (path: string, body: unknown, done: string): Promise<void> => {
    setAsked(undefined);
    try {
      await api.post(path, body);
      showToast(done);
    } catch (error) {
      showToast(error instanceof Problem ? `${error.message} (${error.code})` : 'That did not work.', 'bad');
    }
    onDone();
  };
  const cancel = (): void => void send(apiPath`/v1/calls/${call.callId}/cancel`, {}, 'Cancelled.');
  const resolve = (ran: boolean): void =>
    void send(apiPath`/v1/calls/${call.callId}/resolve`, { ran }, ran ? 'Noted: it ran.' : 'Noted: it did not run.');
  const close = (): void => setAsked(undefined);

  if (call.state !== 'settled') {
    return (
      <>
        <Button kind="danger" disabled={call.cancelRequested === true} onClick={() => setAsked('cancel')}>
          {call.cancelRequested === true ? 'Being cancelled' : 'Cancel …'}
        </Button>
        {asked === 'cancel' ? (
          <Dialog title="Cancel this call?" onClose={close}>
            <p>Nothing new starts. A tool that is running is told to stop; what it did already stays done.</p>
            <div class="dialog-actions">
              <Button onClick={close}>Let it go on</Button>
              <Button kind="danger" onClick={cancel}>
                Cancel the call
              </Button>
            </div>
          </Dialog>
        ) : null}
      </>
    );
  }
  if (call.outcome !== 'indeterminate' || call.resolution !== undefined) return null;
  return (
    <>
      <Button onClick={() => setAsked('resolve')}>Resolve …</Button>
      {asked === 'resolve' ? (
        <Dialog title="Did it run?" onClose={close}>
          <p>Its worker was lost while it ran. Look at what the tool works on, then say what you found.</p>
          <div class="dialog-actions">
            <Button onClick={() => resolve(false)}>It did not run</Button>
            <Button kind="primary" onClick={() => resolve(true)}>
              It ran
            </Button>
          </div>
        </Dialog>
      ) : null}
    </>
  );
}
