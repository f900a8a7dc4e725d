import type { VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { api, askWho } from '../api.ts';
import { Button } from '../components/button.tsx';
import { Icon } from '../components/icon.tsx';
import { Failure, Loading } from '../components/states.tsx';

/** Takes the one-time code after `#`. The code is removed from the address bar and the history before anything else happens. */
function takeCode(): string | undefined {
  const code = decodeURIComponent(location.hash.slice(1));
  if (location.hash !== '') history.replaceState(null, '', location.pathname);
  return code === '' ? undefined : code;
}

export function Login({ onDone }: { readonly onDone: () => void }): VNode {
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const [token, setToken] = useState('');

  const signIn = async (proof: { code: string } | { token: string }): Promise<void> => {
    setBusy(true);
    setError(undefined);
    try {
      await api.post('/v1/login', proof);
      await askWho();
      onDone();
    } catch (problem) {
      setError(problem);
    } finally {
      setBusy(false);
    }
  };
  useEffect(() => {
    const code = takeCode();
    if (code !== undefined) void signIn({ code });
  }, []);

  return (
    <main class="login">
      <h1>
        <Icon name="door" /> Sallyport
      </h1>
      {isBusy ? <Loading what="Signing in" /> : null}
      {error === undefined ? null : <Failure error={error} />}
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void signIn({ token: token.trim() });
          setToken('');
        }}
      >
        <p>Open the login link that the gateway printed, or paste a token.</p>
        <label class="field">
          Token
          <input
            type="password"
            name="token"
            autoComplete="off"
            spellcheck={false}
            required
            value={token}
            onInput={(event) => setToken(event.currentTarget.value)}
          />
        </label>
        <Button type="submit" kind="primary" disabled={isBusy}>
          Sign in
        </Button>
        <p class="hint">
          A new link: <code>sallyport gateway login-link</code>
        </p>
      </form>
    </main>
  );
}
