import type { ComponentChildren, VNode } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { api, who } from './api.ts';
import type { Me } from './api-types.ts';
import { Button } from './components/button.tsx';
import { Icon, type IconName } from './components/icon.tsx';
import { Inert } from './components/inert.tsx';
import { ShortcutHelp } from './components/shortcut-help.tsx';
import { showToast } from './components/toast.tsx';
import { connection } from './live.ts';
import { pendingCount, usePendingCount } from './pending-count.ts';
import { useShortcuts } from './shortcuts.ts';
import { nextTheme, theme } from './theme.ts';

interface Place {
  readonly path: string;
  readonly title: string;
  readonly icon: IconName;
  readonly keys: string;
}

const PLACES: readonly Place[] = [
  { path: '/console/overview', title: 'Overview', icon: 'overview', keys: 'g o' },
  { path: '/console/approvals', title: 'Approvals', icon: 'approvals', keys: 'g a' },
  { path: '/console/calls', title: 'Calls', icon: 'calls', keys: 'g c' },
  { path: '/console/access', title: 'Access', icon: 'access', keys: 'g x' },
  { path: '/console/fleet', title: 'Fleet', icon: 'fleet', keys: 'g f' },
  { path: '/console/grants', title: 'Grants', icon: 'grants', keys: 'g g' },
  { path: '/console/audit', title: 'Audit', icon: 'audit', keys: 'g u' },
  { path: '/console/tokens', title: 'Tokens', icon: 'tokens', keys: 'g t' },
];

export function Frame({ me, children }: { readonly me: Me; readonly children: ComponentChildren }): VNode {
  const { route } = useLocation();
  const [isHelpOpen, setHelpOpen] = useState(false);
  usePendingCount();
  useShortcuts('Everywhere', [
    { keys: '?', label: 'This help', run: () => setHelpOpen(true) },
    { keys: 't', label: 'Light, dark or as the system', run: nextTheme },
    ...PLACES.map(({ path, title, keys }) => ({ keys, label: `Go to ${title}`, run: () => route(path) })),
  ]);
  return (
    <div class="frame">
      <a class="skip" href="#main">
        Skip to the page
      </a>
      <header class="bar">
        <a class="brand" href="/console/overview">
          <Icon name="door" />
          Sallyport
        </a>
        <ConnectionState />
        <div class="bar-end">
          <span class="bar-who">
            <Inert text={me.name} />
          </span>
          <Button kind="quiet" title="Keyboard help" shortcut="?" onClick={() => setHelpOpen(true)}>
            Keys
          </Button>
          <Button kind="quiet" label={`Colours: ${theme.value}`} title={`Colours: ${theme.value}`} onClick={nextTheme}>
            <Icon name={theme.value} />
          </Button>
          <Button kind="quiet" onClick={() => void signOut()}>
            Sign out
          </Button>
        </div>
      </header>
      <Navigation />
      <main id="main" class="main" tabIndex={-1}>
        {children}
      </main>
      {isHelpOpen ? <ShortcutHelp onClose={() => setHelpOpen(false)} /> : null}
    </div>
  );
}

/** The current page. Also shows its title in the browser tab, and moves the focus to the page when another one is opened. */
function usePlace(): Place | undefined {
  const { path } = useLocation();
  const here = PLACES.find((place) => path === place.path || path.startsWith(`${place.path}/`));
  const before = useRef(here);
  useEffect(() => {
    if (before.current !== undefined && before.current !== here) document.querySelector<HTMLElement>('#main')?.focus();
    before.current = here;
  }, [here]);
  useEffect(() => {
    const count = pendingCount.value === 0 ? '' : `(${pendingCount.value}) `;
    document.title = `${count}${here?.title ?? 'Console'} – Sallyport`;
  }, [here, pendingCount.value]);
  return here;
}

function Navigation(): VNode {
  const here = usePlace();
  return (
    <nav class="nav" aria-label="Pages">
      <ul>
        {PLACES.map((place) => (
          <li key={place.path}>
            <a href={place.path} aria-current={place === here ? 'page' : undefined}>
              <Icon name={place.icon} />
              <span class="nav-title">{place.title}</span>
              {place.icon === 'approvals' && pendingCount.value > 0 ? (
                <span class="nav-count" aria-label={`${pendingCount.value} pending`}>
                  {pendingCount.value > 99 ? '99+' : pendingCount.value}
                </span>
              ) : null}
            </a>
          </li>
        ))}
      </ul>
    </nav>
  );
}

/** Shows the state of the connection. The message is calm, because the person has nothing to do: the page may only be out of date. */
function ConnectionState(): VNode {
  const isLost = connection.value === 'reconnecting';
  return (
    <div class="connection" role="status">
      {isLost ? <span class="connection-lost">Reconnecting … what you see may be out of date.</span> : null}
      {connection.value === 'live' ? <span class="connection-live">Live</span> : null}
      <span class="visually-hidden">
        {pendingCount.value === 0 ? '' : `Questions that wait for an answer: ${pendingCount.value}.`}
      </span>
    </div>
  );
}

async function signOut(): Promise<void> {
  try {
    await api.post('/v1/logout');
    who.value = 'nobody';
  } catch (error) {
    showToast(error instanceof Error ? error.message : 'Could not sign out.', 'bad');
  }
}
