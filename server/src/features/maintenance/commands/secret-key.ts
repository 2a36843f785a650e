/** `claimcheck secret-key`: changes the key under which everything secret is stored, and tells what is stored under which key. */
import { setTimeout } from 'node:timers/promises'
import { type OutputOptions, print, subcommand, table } from '@claimcheck/command-line/run'
import { writeError } from '@claimcheck/command-line/terminal'
import { typed } from '@claimcheck/command-line/typed'
import type { Command } from 'commander'
import { byCommand } from '../../../base/actor.ts'
import { secretKeyPath } from '../../../base/secret-keys.ts'
import type { HostConfig } from '../../../config/config.ts'
import type { HostServices } from '../../../host/container.ts'
import type { WithServices } from '../../../host/feature.ts'
import { showProgress } from '../../../host/terminal/progress.ts'
import type { ConnectionService } from '../../workspaces/connections.ts'
import type { KeyUse, SecretRotation } from '../secret-rotation.ts'

interface Services extends Pick<HostServices, 'storage' | 'schema' | 'secrets' | 'config' | 'now'> {
  readonly connections: ConnectionService
}

export function addSecretKeyCommands(program: Command, withServices: WithServices<Services>): void {
  const secretKey = program
    .command('secret-key')
    .description('the key that seals credentials, tokens and signing keys where they are stored')

  const withRotation = <T>(work: (rotation: SecretRotation, claimcheck: Services) => Promise<T>) =>
    withServices(async (claimcheck) => {
      const { createSecretRotation } = await import('../secret-rotation.ts')
      return work(createSecretRotation(claimcheck), claimcheck)
    })

  subcommand(secretKey, 'status', 'count what is sealed under which key').action(async (options: OutputOptions) => {
    const { use, config } = await withRotation(async (rotation, { config }) => ({
      use: await rotation.use(),
      config,
    }))
    print(options, { keys: use.map(toJson) }, [...tableOf(use), ...adviceOn(use, config)])
  })

  subcommand(
    secretKey,
    'rotate',
    'seal everything under the current key; where DATA_DIR holds the key, make a new one first',
  ).action(async (options: OutputOptions) => {
    const { keyId, isNew, resealed, use, config } = await withRotation(async (rotation, { config }) => ({
      ...(await showProgress('rows', (onProgress) => rotation.rotate(byCommand(), onProgress))),
      config,
    }))
    print(options, { key: keyId, new: isNew, resealed, keys: use.map(toJson) }, [
      ...(isNew ? [`Made the key ${keyId}.`] : []),
      resealed === 0
        ? `Nothing was left to seal under the key ${keyId}.`
        : `Sealed ${resealed} values under the key ${keyId}.`,
      ...adviceOn(use, config),
    ])
    if (leftover(use) > 0) process.exitCode = 1
  })

  subcommand(secretKey, 'forget', 'remove the keys from DATA_DIR under which nothing is sealed any more').action(
    async (options: OutputOptions) => {
      const forgotten = await withRotation((rotation) => rotation.forget(byCommand(), waitAloud))
      print(options, { forgotten }, [
        forgotten.length === 0
          ? 'Nothing is removed: the current key is the only one, or values are still sealed under the others.'
          : `Removed the key ${forgotten.join(', ')}. A backup from before the rotation still needs it.`,
      ])
    },
  )
}

function waitAloud(ms: number): Promise<void> {
  const seconds = Math.ceil(ms / 1000)
  writeError(`Waiting ${seconds} s: a server may still store what it sealed before the rotation.\n`)
  return setTimeout(ms)
}

function toJson({ keyId, role, values }: KeyUse) {
  return { id: keyId, role, values }
}

function tableOf(use: readonly KeyUse[]): string[] {
  const rows = use.map(({ keyId, role, values }) => [keyId ?? 'unknown', WORDS[role], String(values)])
  return table(['KEY', 'ROLE', 'VALUES'], rows)
}

const WORDS: Readonly<Record<KeyUse['role'], string>> = {
  current: 'seals and opens',
  also: 'opens',
  unknown: 'not configured',
}

/** What is still sealed under the keys that are to go. */
function leftover(use: readonly KeyUse[]): number {
  return use.reduce((sum, { role, values }) => sum + (role === 'also' ? values : 0), 0)
}

/** What to do next. */
function adviceOn(use: readonly KeyUse[], config: HostConfig): string[] {
  const isFromFile = config.secretKey === undefined
  const others = use.filter(({ role }) => role === 'also')
  const lost = use.filter(({ role, values }) => role === 'unknown' && values > 0)
  const unopened = lost.map(({ keyId, values }) =>
    keyId === null
      ? `${values} values open with no configured key: ${typed('doctor')} names them.`
      : `${values} values are sealed under the key ${keyId}, which is not configured: ${typed('doctor')} names them.`,
  )
  if (leftover(use) > 0) {
    const cause = isFromFile
      ? ''
      : ' A host that seals under another key runs with another SECRET_KEY: restart it first.'
    return [
      ...unopened,
      `${leftover(use)} values are not sealed under the current key: run ${typed('secret-key rotate')}.${cause}`,
    ]
  }
  if (others.length === 0) return unopened
  const ids = others.map(({ keyId }) => keyId).join(', ')
  const next = isFromFile
    ? `Nothing is sealed under ${ids} any more. ${typed('secret-key forget')} removes it from ${secretKeyPath(config.dataDir)}.`
    : `Nothing is sealed under ${ids}. Once every host runs with the SECRET_KEY of here, take it out of SECRET_KEY_ALSO on every host.`
  return [...unopened, next]
}
