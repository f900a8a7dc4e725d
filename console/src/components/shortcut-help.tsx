import type { VNode } from 'preact';
import { areShortcutsOn, shownGroups, turnShortcuts } from '../shortcuts.ts';
import { Dialog } from './dialog.tsx';

export function ShortcutHelp({ onClose }: { readonly onClose: () => void }): VNode {
  return (
    <Dialog title="Keyboard" onClose={onClose}>
      {shownGroups.value.map((group) => (
        <section key={group.title}>
          <h3>{group.title}</h3>
          <dl class="shortcut-list">
            {group.shortcuts.map(({ keys, label }) => (
              <div key={keys}>
                <dt>
                  {keys.split(' ').map((key) => (
                    <kbd key={key}>{key}</kbd>
                  ))}
                </dt>
                <dd>{label}</dd>
              </div>
            ))}
          </dl>
        </section>
      ))}
      <label class="check">
        <input
          type="checkbox"
          checked={areShortcutsOn.value}
          onChange={(event) => turnShortcuts(event.currentTarget.checked)}
        />
        Single keys do something
      </label>
    </Dialog>
  );
}
