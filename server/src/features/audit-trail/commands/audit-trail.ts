/** `claimcheck audit-trail`: lists, exports and checks the entries of the audit trail. */

import { createReadStream, createWriteStream } from 'node:fs'
import { createInterface } from 'node:readline'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { CommandError } from '@claimcheck/command-line/errors'
import { collect, type OutputOptions, print, subcommand } from '@claimcheck/command-line/run'
import { typed } from '@claimcheck/command-line/typed'
import { formatInstant, type Instant } from '@claimcheck/core/rules'
import { terminalJson } from '@claimcheck/core/words/terminal'
import type { Command } from 'commander'
import { byCommand } from '../../../base/actor.ts'
import { ServiceError } from '../../../base/errors.ts'
import { defined } from '../../../base/pick.ts'
import { readTimestamp } from '../../../base/timestamp.ts'
import type { HostServices } from '../../../host/container.ts'
import type { WithServices } from '../../../host/feature.ts'
import { chainedDocument } from '../../../storage/audit-chain.ts'
import { toHex } from '../../../storage/table.ts'
import type { WorkspaceService } from '../../workspaces/workspaces.ts'
import type { AuditFilter, AuditTrailPage, AuditTrailService, ShownEntry } from '../audit-trail.ts'
import { checkLines, type FileEntry, type FileReport } from '../check-file.ts'
import { accountWords, actorWords, detailWords } from '../words.ts'

interface Services extends Pick<HostServices, 'storage'> {
  readonly workspaces: WorkspaceService
  readonly auditTrail: AuditTrailService
}

interface AuditOptions extends OutputOptions {
  readonly workspace?: string
  readonly account?: string
  readonly event?: readonly string[]
  readonly since?: string
  readonly until?: string
  readonly search?: string
  readonly limit: string
  readonly export?: string
  readonly check?: string
  readonly compare?: string
}

const MOST_LISTED = 10_000
/** The number of positions of a file that are looked up at once. */
const COMPARED_AT_ONCE = 500

export function addAuditTrailCommand(program: Command, withServices: WithServices<Services>): void {
  subcommand(program, 'audit-trail', 'list the audit trail, newest first; export it; or check an export')
    .option('--workspace <workspace>', 'only of this workspace: id or name')
    .option('--account <email>', 'only on this account')
    .option(
      '--event <name>',
      'only this event, such as key.created, or this group, such as key; may be repeated',
      collect,
    )
    .option('--since <time>', 'only since then, such as 2027-01-31T00:00:00Z')
    .option('--until <time>', 'only before then')
    .option('--search <text>', 'only with this text in an id, an address or the details')
    .option('--limit <count>', `how many to list, at most ${MOST_LISTED}`, '50')
    .option(
      '--export <file>',
      'write them as JSON lines to a new file instead, oldest first, all of them; - for standard output',
    )
    .option('--check <file>', 'check an exported file alone, without an installation')
    .option('--compare <file>', 'check an exported file, and that this installation still has its entries unchanged')
    .action(async (options: AuditOptions) => {
      const { export: to, check, compare: other } = options
      if ([to, check, other].filter((mode) => mode !== undefined).length > 1)
        throw new CommandError('usage', 'Use one of --export, --check and --compare at a time.')
      if (check !== undefined) return report(options, await checkFile(check), [])
      if (other !== undefined) return compare(other, options)
      return to === undefined ? list(options) : exportTo(to, options)
    })

  async function list(options: AuditOptions): Promise<void> {
    const limit = Number(options.limit)
    if (!Number.isInteger(limit) || limit < 1 || limit > MOST_LISTED) {
      throw new CommandError('usage', `--limit takes a number from 1 to ${MOST_LISTED}, not ${options.limit}.`)
    }
    const [{ entries, before, users }, ends] = await withServices(async (claimcheck) => [
      await claimcheck.auditTrail.list(await filterOf(options, claimcheck), { limit }),
      await claimcheck.auditTrail.ends(),
    ])
    const json = entries.map((entry) => ({ ...chainedDocument(entry), hash: toHex(entry.hash) }))
    const lines = entries.map((entry) => lineOf(entry, users))
    if (entries.length === 0) lines.push('No entries.')
    if (before !== undefined)
      lines.push(`There are older ones: add --limit, or --until ${formatInstant(entries.at(-1)!.at)}.`)
    if (ends) lines.push(`The newest entry of all is ${ends.last}, with the hash ${toHex(ends.lastHash)}.`)
    print(options, json, lines)
  }

  async function exportTo(file: string, options: AuditOptions): Promise<void> {
    const count = await withServices(async (claimcheck) => {
      const lines = await claimcheck.auditTrail.export(await filterOf(options, claimcheck), byCommand())
      let entries = 0
      const counted = async function* () {
        for await (const some of lines) {
          entries += some.split('\n').length - 1
          yield process.stdout.isTTY && file === '-' ? terminalJson(some) : some
        }
      }
      if (file === '-') {
        await pipeline(Readable.from(counted()), process.stdout, { end: false })
      } else {
        // Exports overwrite no file, and are for their owner alone.
        const target = createWriteStream(file, { flags: 'wx', mode: 0o600 })
        await pipeline(Readable.from(counted()), target).catch((cause) => {
          throw fileError(file, cause)
        })
      }
      return entries
    })
    if (file === '-') return
    print(options, { file, entries: count }, [
      `Exported ${count} entries to ${file}.`,
      `Check it at any time, on any machine: ${typed(`audit-trail --check ${file}`)}`,
    ])
  }

  async function compare(file: string, options: AuditOptions): Promise<void> {
    await withServices(async ({ storage }) => {
      const differing: number[] = []
      let removed = 0
      let waiting: FileEntry[] = []
      const first = (await storage.read.audit.ends())?.first ?? 1
      const lookUp = async () => {
        const hashes = await storage.read.audit.hashesOf(waiting.map(({ position }) => position))
        const isRemovedByRetention = (position: number) => position < first && !hashes.has(position)
        const hexes = new Map([...hashes].map(([position, hash]) => [position, toHex(hash)]))
        const unlike = waiting
          .filter((entry) => hexes.get(entry.position) !== entry.hash)
          .map(({ position }) => position)
        removed += unlike.filter(isRemovedByRetention).length
        differing.push(...unlike.filter((position) => !isRemovedByRetention(position)))
        waiting = []
      }
      const checked = await checkFile(file, async (entry) => {
        waiting.push(entry)
        if (waiting.length >= COMPARED_AT_ONCE) await lookUp()
      })
      await lookUp()
      const problem =
        differing.length === 0 ? null : `position ${differing[0]}: this installation has another entry there, or none`
      const ok = checked.ok && problem === null
      const more = ok ? ['The installation has the same entries.'] : []
      if (removed > 0)
        more.push(`${removed} of them are older than what the installation keeps, and were not compared.`)
      report(options, { ...checked, ok, problem: checked.problem ?? problem }, more)
    })
  }
}

function report(options: AuditOptions, checked: FileReport, more: readonly string[]): void {
  const { ok, entries, first, last, lastHash: last_hash, gaps, problem } = checked
  const gapWords =
    gaps === 0
      ? 'without gaps'
      : `with ${gaps} ${gaps === 1 ? 'gap' : 'gaps'}: entries that the export left out, or that were removed from the file`
  print(options, { ok, entries, first, last, last_hash, gaps, problem }, [
    ...(problem === null ? [] : [`Not sound. ${problem}.`]),
    ...(ok && entries === 0 ? ['There are no entries in it.'] : []),
    ...(entries === 0 ? [] : [`${entries} entries, positions ${first} to ${last}, ${gapWords}.`]),
    ...(ok && entries > 0 ? [`Each has the hash that it says. The last hash is ${last_hash}.`] : []),
    ...more,
  ])
  if (!ok) process.exitCode = 1
}

async function checkFile(file: string, onEntry?: (entry: FileEntry) => Promise<void>): Promise<FileReport> {
  const input = createReadStream(file, 'utf8')
  const failed = new Promise<never>((_, reject) => input.on('error', (cause) => reject(fileError(file, cause))))
  return Promise.race([checkLines(createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY }), onEntry), failed])
}

const FILE_PROBLEMS: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file or folder',
  EEXIST: 'there is a file of this name: choose another name',
  EACCES: 'this user may not do that',
  EISDIR: 'it is a folder',
}

function fileError(file: string, cause: NodeJS.ErrnoException): Error {
  const problem = FILE_PROBLEMS[String(cause.code)]
  return problem === undefined ? cause : new CommandError('usage', `${file}: ${problem}.`)
}

async function filterOf(options: AuditOptions, { workspaces, auditTrail, storage }: Services): Promise<AuditFilter> {
  const { workspace, account, event, since, until, search } = options
  if (workspace !== undefined && account !== undefined) {
    throw new CommandError('usage', 'Use --workspace or --account, not both.')
  }
  let scope: AuditFilter['scope'] = 'everything'
  if (workspace !== undefined) scope = { workspaceId: (await workspaces.find(workspace)).id }
  if (account !== undefined) {
    const user = await storage.read.users.byEmail(account.trim().toLowerCase())
    if (!user) throw new ServiceError('not_found', `there is no account with the address ${account}`)
    scope = { userId: user.id }
  }
  return {
    scope,
    ...defined({
      events: event?.flatMap((name) => eventsNamed(auditTrail, name)),
      since: instantOf('--since', since),
      until: instantOf('--until', until),
      search,
    }),
  }
}

function eventsNamed({ events, eventsOf }: AuditTrailService, name: string): readonly string[] {
  const named = events.includes(name) ? [name] : eventsOf(name)
  if (named.length > 0) return named
  throw new CommandError('usage', `There is no event or group ${name}. The events: ${events.join(', ')}.`)
}

function instantOf(option: string, text: string | undefined): Instant | undefined {
  if (text === undefined) return undefined
  const instant = readTimestamp(text)
  if (typeof instant === 'number') return instant
  throw new CommandError('usage', `${option} takes a time such as 2027-01-31T00:00:00Z, not ${text}.`)
}

function lineOf(entry: ShownEntry, users: AuditTrailPage['users']): string {
  const account = accountWords(entry, users)
  const details = detailWords(entry)
  return [
    `${entry.position}  ${formatInstant(entry.at)}  ${actorWords(entry, users)} ${entry.words}`,
    account === undefined ? '' : ` [account ${account}]`,
    entry.subject === null ? '' : ` ${entry.subject}`,
    details === '' ? '' : ` (${details})`,
    entry.address === null ? '' : ` from ${entry.address}`,
  ].join('')
}
