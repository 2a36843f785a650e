/** `claimcheck connection`: connects destinations, names them, tests them, replaces credentials, lists and disconnects. */
import { CommandError } from '@claimcheck/command-line/errors'
import { type OutputOptions, print, subcommand, table } from '@claimcheck/command-line/run'
import { typed } from '@claimcheck/command-line/typed'
import { formatInstant, type JsonObject } from '@claimcheck/core/rules'
import type { Command } from 'commander'
import { formatOrNull } from '../../../base/timestamp.ts'
import type { HostServices } from '../../../host/container.ts'
import type { WithServices } from '../../../host/feature.ts'
import type { HostedConnectionType } from '../../../plugins/hosted.ts'
import { anotherThan, endingOf, failureOf, STATE_WORDS } from '../connection-health.ts'
import type { NotConnected } from '../connection-trial.ts'
import type { ConnectionService, ConnectionSummary, TestResult } from '../connections.ts'
import type { Overlap } from '../overlaps.ts'
import { type AddressInReceipts, addressInReceipts, type Sources } from '../sources.ts'
import type { WorkspaceService } from '../workspaces.ts'
import { typedValue } from './value-file.ts'
import { ONE_OR_ALL, WORKSPACE } from './workspace.ts'

interface Services extends Pick<HostServices, 'registry'> {
  readonly workspaces: WorkspaceService
  readonly connections: ConnectionService
  readonly sources: Sources
}

interface TriedOptions extends OutputOptions {
  readonly set: readonly string[]
  /** True to store a connection also if it could not be tried. */
  readonly untested: boolean
  readonly try?: string
}

const PUBLISH =
  'name the address of the destination in receipts, which anyone may read. Without it receipts say that the workspace chose the destination and withholds its address. Addresses that the operator lists are always named'

/** Sentences about the address, printed by `connection add`. */
const ADDRESS_WORDS: Readonly<Record<AddressInReceipts, string>> = {
  listed: 'Receipts name its address: the operator lists it as a public destination.',
  published: 'Receipts name its address.',
  withheld:
    'Receipts withhold its address: readers see that this workspace chose the destination. To name it, remove the connection and add it again with --publish-address.',
}

const LIST_HEAD = 'ID,NAME,WORKSPACE,PROVIDER,ADDRESS,STATE,SINCE,CREDENTIALS END,AMBIGUOUS WITH,ACTIONS'.split(',')
const TRY =
  'what to read through it, to see that it works: a repository, a package or a page that its credentials can read'
const UNTESTED = 'keep it also when the destination cannot be reached now; never when the destination refuses it'

export function addConnectionCommands(program: Command, withServices: WithServices<Services>): void {
  const connection = program.command('connection').description('read-only connections to destinations')
  const withPlugins: WithServices<Services> = (work) => withServices(work, { plugins: true })

  subcommand(connection, 'add', 'connect a destination; it is read once first, and kept unless it refuses')
    .argument('<provider>')
    .requiredOption(...WORKSPACE)
    .option('--set <name=value...>', 'options of the provider; for a value of @FILE the file is read', [])
    .option('--name <name>', 'name of the connection (default: made of its kind and options)')
    .option('--publish-address', PUBLISH, false)
    .option('--try <target>', TRY)
    .option('--untested', UNTESTED, false)
    .action(
      async (
        provider: string,
        options: TriedOptions & { workspace: string; publishAddress: boolean; name?: string },
      ) => {
        const added = await withPlugins(async (services) => {
          const { id } = await services.workspaces.find(options.workspace)
          const settings = parseSettings(options.set, services.registry.connectionType(provider))
          const address = options.publishAddress ? 'published' : 'withheld'
          const named = { name: options.name ?? '', target: options.try ?? '' }
          const by = { userId: null, insists: options.untested, address, ...named } as const
          const connected = await services.connections.connect(id, provider, settings, by)
          return 'isRefused' in connected ? connected : (await describe([connected], services))[0]!
        })
        if ('isRefused' in added) throw notConnected('Nothing was connected', added)
        const notes = notesOn(added)
        const { id, name, scopes, actions, shown, state, ambiguous } = added
        const ambiguous_with = idsOf(ambiguous)
        print(
          options,
          { id, name, provider, address: shown, scopes, actions, notes, state, ambiguous_with, ...found(added) },
          [
            `Connected ${name} (${id}). It verifies: ${actions.join(', ') || 'nothing yet'}.`,
            ...stateLines(added),
            ADDRESS_WORDS[shown],
            ...notes.map((note) => `Note: ${note}`),
            ...ambiguous.map((one) => `Note: ${ambiguityOf(one)}`),
          ],
        )
      },
    )

  subcommand(connection, 'list', 'list active connections, oldest first')
    .option(...ONE_OR_ALL)
    .action(async (options: OutputOptions & { workspace?: string }) => {
      const listed = await withPlugins(async (services) =>
        describe(await services.connections.list(await services.workspaces.findId(options.workspace)), services),
      )
      const rows = listed.map((item) => [
        ...[item.id, item.name, item.workspaceId, item.provider, item.shown],
        ...[stateOf(item), formatOrNull(item.stateAt) ?? '-', formatOrNull(item.expiresAt) ?? '-'],
        ...[String(item.ambiguous.length || '-'), item.actions.join(' ')],
      ])
      const others = listed.flatMap(({ id, identity }) => (identity?.former ? [`${id}: ${anotherThan(identity)}`] : []))
      print(options, listed.map(toJson), [...table(LIST_HEAD, rows), ...others])
    })

  subcommand(connection, 'rename', 'give a connection another name')
    .argument('<id>')
    .argument('<name>', 'new name; an empty one is made of the kind and options')
    .action(async (id: string, name: string, options: OutputOptions) => {
      const renamed = await withPlugins(async ({ connections }) => {
        await connections.rename(id, name)
        return (await connections.list()).find((one) => one.id === id)?.name ?? name
      })
      print(options, { id, name: renamed }, [`The connection ${id} is called ${renamed} now.`])
    })

  subcommand(
    connection,
    'test',
    'read the destination of a connection once: exit 0 it works, or is reached, 1 refused, or not read',
  )
    .argument('<id>')
    .option('--try <target>', `${TRY}; by default what was read last`)
    .action(async (id: string, options: OutputOptions & { try?: string }) => {
      const tested = await withPlugins(async ({ connections }) => {
        const result = await connections.test(id, { target: options.try })
        const tried = (await connections.list()).find((one) => one.id === id)
        return { ...result, expiresAt: tried?.expiresAt ?? null, identity: tried?.identity ?? null }
      })
      const { failure, state } = tested
      if (failure !== null) throw notRead(tested)
      print(options, { id, failure, state, ...found(tested) }, stateLines(tested))
    })

  subcommand(connection, 'update', 'replace the credentials of a connection; the new ones are tried first')
    .argument('<id>')
    .requiredOption('--set <name=value...>', 'the secrets that change; for a value of @FILE the file is read')
    .option('--try <target>', `${TRY}; by default what was read last`)
    .option('--untested', UNTESTED, false)
    .action(async (id: string, options: TriedOptions) => {
      const settings = parseSettings(options.set, undefined)
      const updated = await withPlugins(({ connections }) =>
        connections.replaceSecrets(id, settings, { insists: options.untested, target: options.try }),
      )
      if ('isRefused' in updated) throw notConnected('Nothing was changed', updated)
      const { connection, failure } = updated
      const notes = notesOn({ ...connection, lastFailure: failure })
      const { provider, scopes, state } = connection
      print(options, { id, provider, scopes, notes, state, ...found(connection) }, [
        `The connection ${id} has the new credentials.`,
        ...stateLines(connection),
        ...notes.map((note) => `Note: ${note}`),
      ])
    })

  subcommand(connection, 'remove', 'disconnect a destination, and delete its credentials')
    .argument('<id>')
    .action(async (id: string, options: OutputOptions) => {
      await withServices(({ connections }) => connections.remove(id))
      print(options, { id }, [`The connection ${id} is removed, and its credentials are deleted.`])
    })
}

type Ambiguous = Pick<ConnectionSummary, 'id' | 'name'> & Pick<Overlap, 'hasHost'>

function ambiguityOf({ id, name, hasHost }: Ambiguous): string {
  const unless = hasHost ? ', unless its `host` param names one of them' : ''
  return `Claims that fit it can fit ${name} (${id}) too. Such a claim is unverifiable${unless}.`
}

interface DescribedConnection extends ConnectionSummary {
  /** The way in which receipts name the connection's address. */
  readonly shown: AddressInReceipts
  /** The others of its workspace that the same claim may fit and that read another place. */
  readonly ambiguous: readonly Ambiguous[]
}

async function describe(
  listed: readonly ConnectionSummary[],
  { connections, registry, sources }: Pick<Services, 'connections' | 'registry' | 'sources'>,
): Promise<readonly DescribedConnection[]> {
  const workspaceIds = [...new Set(listed.map(({ workspaceId }) => workspaceId))]
  const [known, overlaps] = await Promise.all([
    Promise.all(workspaceIds.map((id) => connections.list(id))),
    Promise.all(workspaceIds.map((id) => connections.overlaps(id))),
  ])
  const names = new Map(known.flat().map(({ id, name }) => [id, name]))
  const others = new Map(overlaps.flatMap((ofOne) => [...ofOne]))
  return Promise.all(
    listed.map(async (connection) => {
      const { provider, id } = connection
      const type = registry.connectionType(provider)
      const shown = await addressInReceipts(connection, type, registry.offeredBy(provider), sources)
      const apart = (others.get(id) ?? []).filter(({ isOnePlace }) => !isOnePlace)
      return { ...connection, shown, ambiguous: apart.map((one) => ({ ...one, name: names.get(one.id) ?? one.id })) }
    }),
  )
}

/** Advice by the reason of a failure. */
const HINTS: readonly (readonly [reason: RegExp, hint: string])[] = [
  [
    /not sent: .*not (?:https|public)|ENOTFOUND (?:[^.\s)]+|\S+\.(?:internal|lan|local|localhost))\b/,
    'A destination in a private network, or with plain http, is read only if ALLOW_PRIVATE names it as host:port.',
  ],
  [
    /self-signed certificate|verify the first certificate|local issuer certificate/,
    'For a private certificate authority, set NODE_EXTRA_CA_CERTS to a file with its certificate, here and for the server.',
  ],
]

/** Advice about refused credentials, by the code of the failure. */
const TRIAL_HINTS: Readonly<Record<string, string>> = {
  unauthorized: 'The destination refused these credentials: check them, or replace them.',
  forbidden:
    'What was tried is not there, or these credentials may not see it: look whether it is there, or give them read access to it.',
}

function notConnected(result: string, { failure, isRefused, reason = failure }: NotConnected): CommandError {
  const next = isRefused
    ? TRIAL_HINTS[failure]!
    : 'Check the options and that the destination is up, or add --untested to keep them anyway.'
  return unread(`${result}: the destination`, reason, next)
}

function unread(subject: string, reason: string, next: string): CommandError {
  const hints = HINTS.filter(([pattern]) => pattern.test(reason)).map(([, hint]) => ` ${hint}`)
  return new CommandError('not_connected', `${subject} could not be read (${reason}). ${next}${hints.join('')}`)
}

/**
 * Reads settings of the form `name=value`. Commas separate the items of a list. `@FILE` reads the value from a file: no secret has to be in the
 * history of a shell.
 */
function parseSettings(settings: readonly string[], type: HostedConnectionType | undefined): JsonObject {
  const pairs = settings.map((setting) => {
    const [, name, value] = /^([^=]+)=(.*)$/s.exec(setting) ?? []
    // The message does not repeat the setting, which may be a secret.
    if (name === undefined || value === undefined) {
      throw new CommandError('usage', '--set takes name=value, and one of these has no name.')
    }
    const text = typedValue(value, `--set ${name}=`)
    const isList = (type?.options.properties[name] as { type?: string } | undefined)?.type === 'array'
    return [name, isList ? text.split(',') : text]
  })
  return Object.fromEntries(pairs)
}

function notesOn({ notes, lastFailure }: Pick<ConnectionSummary, 'notes' | 'lastFailure'>): string[] {
  return lastFailure === null ? [...notes] : [`The destination could not be read just now (${lastFailure}).`]
}

/** Returns the state of a connection in one of three words, or the code of another failure. */
function stateOf(connection: ConnectionSummary): string {
  const { state } = connection
  const failure = failureOf(connection)
  if (state !== 'refused' && failure !== null) return failure
  return state === null ? '-' : STATE_WORDS[state]
}

const REACHED = 'It is reached, but not tried: nothing shows yet that it can be read.'

type Findings = Pick<ConnectionSummary, 'expiresAt' | 'identity'>

function stateLines({ state, expiresAt, identity }: Pick<ConnectionSummary, 'state'> & Findings): string[] {
  const end = endingOf({ expiresAt }, Date.now())
  return [
    ...(state === 'works' ? ['It works: the destination was read through it.'] : []),
    ...(state === 'reached'
      ? [REACHED, `Name something to read with: ${typed('connection test ID --try TARGET')}`]
      : []),
    ...(end ? [`Its credentials ${end.isOver ? 'ended' : 'end'} at ${formatInstant(end.at)}: replace them.`] : []),
    ...(identity ? [identity.former === null ? `Its destination is ${identity.text}.` : anotherThan(identity)] : []),
  ]
}

/** Writes in JSON the end of the credentials and the identity of the destination, as far as the destination says them. */
function found({ expiresAt, identity }: Findings): object {
  return {
    expires_at: expiresAt === null ? undefined : formatInstant(expiresAt),
    identity: identity?.text,
    identity_since: identity ? formatInstant(identity.since) : undefined,
    former_identity: identity?.former ?? undefined,
  }
}

function notRead({ failure, reason = failure ?? '' }: TestResult): CommandError {
  const next = TRIAL_HINTS[failure ?? ''] ?? 'Check that the destination is up, and test it again.'
  return unread('The destination', reason, next)
}

function idsOf(connections: readonly Ambiguous[]): string[] {
  return connections.map(({ id }) => id)
}

function toJson(connection: DescribedConnection) {
  const { id, name, workspaceId, provider, shown, scopes, connectedAt, actions, state, stateAt, ambiguous } = connection
  return {
    ...{ id, name, workspace_id: workspaceId, provider, address: shown, scopes },
    ...{ connected_at: formatInstant(connectedAt), state, state_at: formatOrNull(stateAt) },
    ...{ failure: failureOf(connection), ...found(connection), actions, ambiguous_with: idsOf(ambiguous) },
  }
}
