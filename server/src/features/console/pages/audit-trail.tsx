/** The audit trail of a workspace, for its owners, and that of a person's account, for that person. */
import { Readable } from 'node:stream'
import { auditGroupWords } from '../../../base/audit-events.ts'
import { ServiceError } from '../../../base/errors.ts'
import type { App } from '../../../http/instance.ts'
import { commandLineOf } from '../../../web/command-line.ts'
import { paths } from '../../../web/console-paths.ts'
import { Empty } from '../../../web/parts/table.tsx'
import { dayOf } from '../../../web/parts/values.tsx'
import { publicPaths } from '../../../web/paths.ts'
import { sentence } from '../../../web/words.tsx'
import type { AuditTrailPage } from '../../audit-trail/audit-trail.ts'
import type { MemberOfWorkspace } from '../../people/members.ts'
import { Entries } from '../audit-trail/entries.tsx'
import {
  auditFilterOf,
  fieldsOf,
  OTHER_ACTORS,
  readTrailQuery,
  type TrailQuery,
  trailPath,
} from '../audit-trail/query.ts'
import type { ConsoleDependencies } from '../dependencies.ts'
import { addPage, guarded, visitOf } from '../form-page.tsx'
import { ConsolePage, useWorkspace } from '../page.tsx'
import { ButtonForm, Select } from '../parts/form.tsx'
import { Pager } from '../parts/pager.tsx'
import { SearchForm } from '../parts/search-form.tsx'

const PAGE_SIZE = 50

export function auditTrailRoutes(app: App, services: ConsoleDependencies): void {
  const { allowances, auditTrail, config, members, now } = services
  const { groups } = auditTrail

  addPage(app, services, '/audit-trail', {
    owners: true,
    show: async ({ workspace: { id, at }, query: given }) => {
      const query = readTrailQuery(given, groups)
      const listed = await members.list(id)
      const filter = auditFilterOf(id, auditTrail, query.filter, listed)
      const page = await auditTrail.list(filter, { before: query.before, limit: PAGE_SIZE })
      const { program, where } = commandLineOf(config)
      const isFiltered = fieldsOf(query.filter).length > 0
      return (
        <ConsolePage title="Audit trail" section="auditTrail">
          <p>
            Who changed what in this workspace, newest first, and how its members signed in. Entries form a chain of
            hashes: <a href={`${publicPaths.docs}/audit-trail`}>what it records and what it proves</a>.
          </p>
          {query.problems.map((problem) => (
            <p class="notice warning">{sentence(problem)}</p>
          ))}
          <Filters query={query} members={listed} groups={groups} />
          {page.entries.length > 0 ? (
            <Entries {...page} />
          ) : (
            <Empty heading="No entries">
              <p>
                {isFiltered || query.before !== undefined
                  ? 'No entry fits these filters.'
                  : 'Nothing has happened here yet.'}
              </p>
            </Empty>
          )}
          <Pages path={at.auditTrail} query={query} page={page} />
          <ButtonForm action={at.auditTrailExport} class="inline" fields={Object.fromEntries(fieldsOf(query.filter))}>
            {isFiltered ? 'Export what these filters show' : 'Export all'} as JSON lines
          </ButtonForm>
          <p class="help">
            The export is recorded here. <code>{program} audit-trail --check FILE</code>, {where}, checks the file on
            any machine.
          </p>
        </ConsolePage>
      )
    },
  })

  // Exports have a form and no link, because they are recorded: no other site can have one recorded.
  const exports = guarded(services, { owners: true, freshSignIn: true, cost: 'export' })
  app.post('/audit-trail/export', exports, async (request, reply) => {
    const { workspace, user, form, by } = visitOf(request, reply)
    const { filter, problems } = readTrailQuery(form, groups)
    // A file cannot say that a filter was ignored.
    if (problems.length > 0) throw new ServiceError('bad_request', problems.join('; '))
    await allowances.spendExport(user)
    const listed = await members.list(workspace.id)
    const lines = await auditTrail.export(auditFilterOf(workspace.id, auditTrail, filter, listed), by)
    return reply
      .type('application/jsonl; charset=utf-8')
      .header('content-disposition', `attachment; filename="audit-trail-${dayOf(now())}.jsonl"`)
      .send(Readable.from(lines))
  })
}

export function accountEventRoutes(app: App, services: ConsoleDependencies): void {
  addPage(app, services, paths.accountEvents, {
    show: async ({ user, query }) => {
      const { before } = readTrailQuery({ before: query.before })
      const page = await services.auditTrail.list({ scope: { userId: user.id } }, { before, limit: PAGE_SIZE })
      return (
        <ConsolePage title="Events on your account" section="account">
          <p>
            Sign-ins, and changes of how you sign in. If you do not know one of them, choose a new password and end your
            other sessions under <a href={paths.account}>Account</a>. Owners of your workspaces see these entries, too.
          </p>
          {page.entries.length === 0 ? <p>No events.</p> : <Entries {...page} />}
          <Pages path={paths.accountEvents} query={{ filter: {}, before, problems: [] }} page={page} />
        </ConsolePage>
      )
    },
  })
}

function Filters({
  query: { filter },
  members,
  groups,
}: {
  query: TrailQuery
  members: readonly MemberOfWorkspace[]
  groups: readonly string[]
}) {
  const list = useWorkspace().at.auditTrail
  const { search, group, who, from, to } = filter
  const people = members.map(({ userId, name, email }) => [userId, `${name} (${email})`] as const)
  const known = [...people, ...Object.entries(OTHER_ACTORS)]
  const choices = who === undefined || known.some(([value]) => value === who) ? known : [...known, [who, who] as const]
  const folded = fieldsOf(filter).filter(([name]) => name !== 'q')
  return (
    <SearchForm
      action={list}
      label="Search entries by name, address, ID or details"
      placeholder="Search name, address, ID, details"
      value={search}
      count={folded.length}
      from={from}
      to={to}
      clear={fieldsOf(filter).length > 0 ? list : undefined}
    >
      <Select
        name="group"
        label="About"
        options={[['', 'Anything'], ...groups.map((group) => [group, auditGroupWords(group)] as const)]}
        value={group}
      />
      <Select name="who" label="Who" options={[['', 'Anybody'], ...choices]} value={who} />
    </SearchForm>
  )
}

function Pages({
  path,
  query: { filter, before },
  page,
}: {
  path: string
  query: TrailQuery
  page: Pick<AuditTrailPage, 'before'>
}) {
  return (
    <Pager
      label="Pages of entries"
      newest={before === undefined ? undefined : trailPath(path, filter)}
      older={page.before === undefined ? undefined : trailPath(path, filter, page.before)}
    />
  )
}
