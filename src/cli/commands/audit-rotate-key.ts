import { Command } from 'commander';
import { signHeads } from '../../audit/sign-heads.ts';
import { makeSigningKey, openSigningKey } from '../../audit/signing-keys.ts';
import { action } from '../command-context.ts';
import { signerOf, withTrail } from '../with-trail.ts';

export function auditRotateKeyCommand(): Command {
  return new Command('rotate-key')
    .description('Sign with a new key from now on; what older ones have signed stays valid')
    .action(
      action((context) =>
        withTrail(
          context,
          async (open) => {
            const { trail, audit, store } = open;
            const { terminal } = context;
            const at = store === undefined ? Date.now() : await store.now();
            const { key: old } = openSigningKey(audit.keys);
            const signer = signerOf(open, old);
            await signHeads(trail, signer, at);
            const next = makeSigningKey(audit.keys);
            // Sign with the old key: a verifier that trusts the old key can then trust its successor.
            await signer.sign(trail, () => ({ kind: 'rotation', at, nextKey: next.id }));
            if (terminal.json) terminal.printJson({ key: next.id, before: old.id, folder: audit.keys });
            else terminal.print(`Key ${next.id} signs from now on; key ${old.id} is kept for checking`);
          },
          { store: true },
        ),
      ),
    );
}
