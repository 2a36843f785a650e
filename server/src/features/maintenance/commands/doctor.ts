/** `claimcheck doctor`: checks everything that is stored. */

import { type OutputOptions, print, subcommand } from '@claimcheck/command-line/run'
import { isolationProblem } from '@claimcheck/core/sandbox/problems'
import type { Command } from 'commander'
import { memoryLimit } from '../../../base/memory.ts'
import type { HostConfig } from '../../../config/config.ts'
import type { HostServices } from '../../../host/container.ts'
import type { WithServices } from '../../../host/feature.ts'
import { showProgress } from '../../../host/terminal/progress.ts'
import { idlePlugins } from '../../../plugins/overview.ts'
import type { ClockWatch } from '../../clock/clock-watch.ts'
import type { LogArchives } from '../../log/log-archives.ts'
import type { LogGuard } from '../../log/log-guard.ts'
import type { KeyVault } from '../../log/signing/signing-keys.ts'
import type { PluginAgreement } from '../../plugins/agreement.ts'

interface Services extends Pick<HostServices, 'config' | 'storage' | 'schema' | 'secrets' | 'registry'> {
  readonly clockWatch: ClockWatch
  readonly vault: KeyVault
  readonly archives: LogArchives
  readonly logGuard: Pick<LogGuard, 'findLacking'>
  readonly pluginAgreement: Pick<PluginAgreement, 'look'>
}

const MIB = 1024 * 1024
const TIME_FITS = 'The clock is not behind the log, and no destination that the configuration lists contradicts it.'

export function addDoctorCommand(program: Command, withServices: WithServices<Services>): void {
  subcommand(
    program,
    'doctor',
    'compute all hashes and signatures again from the stored data, and list what does not fit',
  )
    .option('--signatures', 'also verify the signature of each receipt; this takes ten times as long')
    .action(async (options: OutputOptions & { readonly signatures?: boolean }) => {
      const { diagnose } = await import('../doctor.ts')
      const { examineAnchor } = await import('@claimcheck/cli/verify/anchor-check')
      const { sealedKeyFiles } = await import('../../log/signing/key-files.ts')
      const { ok, problems, leaves, notices, doubt, driver } = await withServices(
        async (claimcheck) => {
          const { config, storage, schema, secrets, archives, clockWatch } = claimcheck
          const found = await showProgress('receipts', (onProgress) =>
            diagnose(storage, {
              schema,
              signatures: options.signatures ?? false,
              database: config,
              secrets,
              keyFiles: sealedKeyFiles(config.dataDir),
              archives,
              examineAnchor,
              onProgress,
            }),
          )
          const doubt = await clockWatch.compare()
          const { lacking, notices } = await claimcheck.logGuard.findLacking()
          const idle = idlePlugins(claimcheck.registry.plugins)
          const differences = await claimcheck.pluginAgreement.look()
          const problems = [
            ...found.problems,
            ...lacking,
            ...idle,
            ...differences.flatMap(({ isSameVersion, text }) => (isSameVersion ? [text] : [])),
            ...(await signingProblems(claimcheck)),
          ]
          return {
            ...found,
            ok: problems.length === 0,
            problems,
            notices: [
              ...found.notices,
              ...noticesOf(config),
              ...differences.flatMap(({ isSameVersion, text }) => (isSameVersion ? [] : [`Notice: ${text}.`])),
              ...(await isolationNotices(claimcheck)),
              ...notices,
            ],
            doubt,
            driver: storage.driver,
          }
        },
        { plugins: true, asIs: true },
      )
      print(options, { ok, problems, notices, time_doubt: doubt ?? null, driver }, [
        ...(ok ? [`No problems: ${leaves} receipts, each in the log exactly once.`] : problems),
        ...notices,
        doubt === undefined ? TIME_FITS : `Notice: the time is in doubt: ${doubt}.`,
        `The database was read by ${driver}.`,
      ])
      if (!ok) process.exitCode = 1
    })
}

/** Why the configured signing backend does not sign; empty where no backend is configured. */
async function signingProblems({ registry, storage, vault }: Services): Promise<string[]> {
  const { signingBackend } = registry
  if (!signingBackend) return []
  try {
    await signingBackend.keys()
    const state = await storage.read.log.state()
    if (state) await vault.load(state.keyId)
    const problem = await vault.problem()
    return problem === undefined ? [] : [problem]
  } catch (error) {
    return [(error as Error).message]
  }
}

/** How many processes the isolated plugins may have, and whether this system lets others start. */
async function isolationNotices({ registry }: Pick<Services, 'registry'>): Promise<string[]> {
  const isolated = registry.plugins.flatMap(({ name, parts }) => {
    const { cells } = parts.state()
    return cells ? [{ name, ...cells }] : []
  })
  if (isolated.length === 0) {
    const problem = await isolationProblem()
    return problem === undefined ? [] : [`Notice: plugins of others do not start here: ${problem}.`]
  }
  const needed = isolated.reduce((sum, { memoryMib }) => sum + memoryMib, 0)
  const here = Math.floor(memoryLimit() / MIB)
  return [
    ...isolated.map(
      ({ name, most, memoryMib }) =>
        `The isolated plugin ${name} works in ${most === 1 ? 'one process' : `at most ${most} processes, one for each workspace`}, with ${memoryMib} MiB at most.`,
    ),
    ...(needed > here / 2
      ? [
          `Notice: the processes of plugins may take ${needed} MiB of the ${here} MiB that there are: lower their processes.memory_mib.`,
        ]
      : []),
  ]
}

/** What the operator should know, and no stored data shows. */
function noticesOf({ plugins }: Pick<HostConfig, 'plugins'>): string[] {
  return plugins
    .filter(({ isolation, trusted }) => isolation === 'open' && !trusted)
    .map(
      ({ use }) =>
        `Notice: the configuration runs the plugin ${use} open: no sandbox keeps it from the network, or from other programs of its user.`,
    )
}
