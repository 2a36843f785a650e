/** `claimcheck backup` and `claimcheck restore`. */

import { CommandError } from '@claimcheck/command-line/errors'
import { type OutputOptions, print, subcommand } from '@claimcheck/command-line/run'
import { typed } from '@claimcheck/command-line/typed'
import type { Command } from 'commander'
import { byCommand } from '../../../base/actor.ts'
import { newId } from '../../../base/ids.ts'
import type { Program, WithServices } from '../../../host/feature.ts'
import { withProgress } from '../../../host/terminal/progress.ts'
import { type ClosingServices, logCloser } from '../../log/closing.ts'
import { type BeginServices, beginNext } from '../../log/commands/log.ts'
import type { Manifest } from '../backup-format.ts'

export function addBackupCommands(
  program: Command,
  withServices: WithServices<BeginServices & ClosingServices>,
  { loadConfig, schema }: Program,
): void {
  subcommand(program, 'backup', 'write a backup of the installation to a new folder, also while its server runs')
    .argument('[to]', 'the folder to make')
    .option('--no-verify', 'do not restore the backup as a trial')
    .option('--last', 'close the log here for good: it goes on where this backup is restored')
    .option('--record', 'write no backup: record that another program has just made one')
    .action((to: string | undefined, options: BackupOptions) => {
      const { record = false, last = false } = options
      if (record === (to !== undefined)) throw new CommandError('usage', 'Name a folder, or give --record.')
      if (record && last) throw new CommandError('usage', 'A backup that another program made is not the last one.')
      return to === undefined ? recordBackup(options) : backup(to, options)
    })

  async function backup(to: string, options: BackupOptions): Promise<void> {
    const { verify, last = false } = options
    const { makeBackup } = await import('../backup.ts')
    const config = loadConfig(process.env)
    // The plugin of the anchors knows whether the database is an old one.
    const close = last ? logCloser((work) => withServices(work, { plugins: true })) : undefined
    const { manifest, unrecorded } = await withProgress('rows', (onProgress) =>
      makeBackup({ config, schema, to, verify, onProgress, close }),
    )
    print(options, { folder: to, ...summaryOf(manifest), verified: verify, unrecorded: unrecorded ?? null }, [
      `The backup is complete: ${to}, ${sentenceOf(manifest)}.`,
      verify ? 'It was restored as a trial, and doctor found no problem.' : 'It was not restored as a trial.',
      `In it: all claims, receipts, accounts and settings, readable by all who can read the folder; the signing key and all credentials, sealed under the secret key.`,
      'Not in it: the secret key, the configuration file, plugins, and the checkpoints that hosts remember. Keep the first two elsewhere.',
      ...(last ? ['The log is closed here, and goes on where this backup is restored: stop all hosts here.'] : []),
      ...(unrecorded === undefined ? [] : [`The metrics do not know of it: ${unrecorded}`]),
    ])
  }

  async function recordBackup(options: OutputOptions): Promise<void> {
    const { openSource } = await import('../../../storage/copy.ts')
    const { insertBackup } = await import('../last-backup.ts')
    const { using } = await import('../handover.ts')
    const madeAt = Date.now()
    const epoch = newId('bkp_', madeAt)
    const source = await openSource(loadConfig(process.env).databaseUrl, schema)
    await using(source, (storage) => insertBackup(storage, { epoch, madeAt }, byCommand()))
    print(options, { epoch }, ['Recorded: the metrics tell the age of a backup that was made now.'])
  }

  subcommand(program, 'restore', 'restore a backup to an empty database')
    .argument('<from>', 'the folder of the backup')
    .option('--begin', 'end the log of the backup, and begin another one, so that hosts take claims')
    .option('--move', 'the log of an older last backup goes on here: it goes on nowhere else')
    .action(async (from: string, options: OutputOptions & { readonly begin?: boolean; readonly move?: boolean }) => {
      const { restoreBackup } = await import('../restore.ts')
      const config = loadConfig(process.env)
      const { begin = false, move = false } = options
      if (begin && move)
        throw new CommandError('usage', 'A log that goes on is not followed by another: --begin, or --move.')
      const { manifest, copied, problems, goesOn, isOld } = await withProgress('rows', (onProgress) =>
        restoreBackup({ from, config, schema, move, onProgress }),
      )
      const ok = problems.length === 0
      const begun = begin && ok && !goesOn ? await withServices(beginNext) : undefined
      const value = { ...summaryOf(manifest), copied, ok, problems, goes_on: goesOn, begun: begun?.value ?? null }
      print(options, value, [
        `Restored ${sentenceOf(manifest)}.`,
        ...(ok ? ['Doctor found no problem.'] : problems),
        `What happened after ${manifest.made_at} is missing: claims and receipts, and that keys were revoked, people removed, contents erased. Do that again.`,
        ...(begun?.words ?? logSentences(goesOn, isOld)),
      ])
      if (!ok) process.exitCode = 1
    })
}

/** Says what becomes of the log of a restored backup, unless another one begins. */
function logSentences(goesOn: boolean, isOld: boolean): string[] {
  const closed = `Its log is closed: hosts serve it, answer claims with 503, and check, sign and mail nothing. To take claims: ${typed('log new')}`
  const going =
    'Its log goes on here. Where this backup is restored once more, its log is closed. Never restore a copy of it.'
  const old =
    'This last backup is more than a day old, and a copy of it may have been restored elsewhere. Where it was not, its log goes on by the same command with --move.'
  return [goesOn ? going : closed, ...(isOld ? [old] : [])]
}

interface BackupOptions extends OutputOptions {
  readonly record?: boolean
  readonly last?: boolean
  readonly verify: boolean
}

function summaryOf({ epoch, made_at, log }: Manifest) {
  return { epoch, made_at, log_id: log?.log_id ?? null, tree_size: log?.tree_size ?? 0 }
}

function sentenceOf({ made_at, log, files }: Manifest): string {
  const rows = Object.values(files).reduce((sum, { rows }) => sum + rows, 0)
  return `${rows} rows of ${made_at}, with ${log?.tree_size ?? 0} entries of the log${log ? ` ${log.log_id}` : ''}`
}
