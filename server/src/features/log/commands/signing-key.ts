/** `claimcheck signing-key`: rotates the key of the log. */

import { type OutputOptions, print, subcommand } from '@claimcheck/command-line/run'
import type { Command } from 'commander'
import { byCommand } from '../../../base/actor.ts'
import type { WithServices } from '../../../host/feature.ts'
import type { ClockWatch } from '../../clock/clock-watch.ts'
import type { LogGuard } from '../log-guard.ts'
import { requireSigning } from '../log-watch.ts'
import type { SigningKeys } from '../signing/signing-keys.ts'

interface Services {
  readonly clockWatch: ClockWatch
  readonly logGuard: LogGuard
  readonly signingKeys: SigningKeys
}

export function addSigningKeyCommands(program: Command, withServices: WithServices<Services>): void {
  const signingKey = program.command('signing-key').description('the key that signs receipts and tree heads')

  subcommand(signingKey, 'rotate', 'sign with a new key from now on; the old key stays published')
    .option('--stored', 'store the new key although a token is configured, to leave the token')
    .action(async (options: OutputOptions & { readonly stored?: boolean }) => {
      const { keyId, retiredKeyId } = await withServices(
        async ({ clockWatch, logGuard, signingKeys }) => {
          await clockWatch.requireTime()
          await requireSigning(logGuard)
          return signingKeys.rotate(byCommand(), options.stored ? 'stored' : 'configured')
        },
        // The plugin of the anchors knows whether the database is an old one.
        { plugins: true },
      )
      print(options, { key_id: keyId, retired_key_id: retiredKeyId }, [
        `New receipts are signed with the key ${keyId}.`,
        `Receipts that were signed with ${retiredKeyId} stay valid.`,
      ])
    })
}
