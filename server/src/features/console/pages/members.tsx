/** The members page. Owners rename the workspace, invite, change roles and remove; every member may leave. Changes of members ask first. */
import { visibleName } from '@claimcheck/core/words/plain-text'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ComponentChildren, VNode } from 'preact'
import { ServiceError } from '../../../base/errors.ts'
import type { App } from '../../../http/instance.ts'
import { paths } from '../../../web/console-paths.ts'
import { sentence } from '../../../web/words.tsx'
import { isMailAddress } from '../../mail/config.ts'
import { invitation } from '../../mail/messages.ts'
import type { MemberOfWorkspace, Role } from '../../people/members.ts'
import { isSignInRule, meetsRule } from '../../people/sign-in-rules.ts'
import { type ApiKey, KEY_PREFIX } from '../../workspaces/keys.ts'
import { answerForm, saveForm, showPage } from '../answers.tsx'
import type { ConsoleDependencies } from '../dependencies.ts'
import { freshSignInOnly, ownersNow } from '../fresh-sign-in.ts'
import { ConsolePage, useViewer, useWorkspace } from '../page.tsx'
import { Actions, PostForm } from '../parts/form.tsx'
import { formOf, listOf } from '../request-fields.ts'
import { actingOf, ownersOnly, sessionOf, workspaceOf } from '../session.ts'
import { KEEPS_ALL } from '../unsent.tsx'
import { RULE_WORDS } from '../weak-sign-in.tsx'
import { ROLE_WORDS } from '../words.ts'
import {
  Deletion,
  Invitations,
  type Invited,
  KeysOfMember,
  type MadeByMember,
  MemberList,
  type MembersProps,
  otherRole,
  Payer,
  REVOKE,
  SignInRules,
  WorkspaceName,
} from './members-parts.tsx'

type OfMember = { Params: { member: string } }

/** The member who is to be changed. */
interface Asked {
  readonly member: MemberOfWorkspace
  /** What the workspace uses counts for their limits. */
  readonly pays: boolean
  /** No other member is an owner: they stay. */
  readonly isOnlyOwner: boolean
}

const ROLES: ReadonlySet<unknown> = new Set<Role>(['owner', 'member'])

export function memberRoutes(app: App, services: ConsoleDependencies): void {
  app.get('/members', async (request, reply) => showPage(request, reply, await membersPage(request, services)))
  invitationRoutes(app, services)
  settingRoutes(app, services)
  changeRoutes(app, services)
}

function forOwnersNow(services: ConsoleDependencies) {
  return { ...KEEPS_ALL, ...ownersNow(services) }
}

async function requireMember({ members }: ConsoleDependencies, request: FastifyRequest<OfMember>): Promise<Asked> {
  const payer = await members.payer(workspaceOf(request).id)
  const listed = await members.list(workspaceOf(request).id)
  const member = listed.find(({ id }) => id === request.params.member)
  // Only owners remove others.
  const isSelf = member?.userId === sessionOf(request).user.id
  const hasOther = listed.some(({ id, role }) => role === 'owner' && id !== member?.id)
  if (member && (isSelf || workspaceOf(request).isOwner))
    return { member, isOnlyOwner: !hasOther, pays: payer?.id === member.userId }
  throw new ServiceError('not_found', 'there is no such page')
}

/** Shows the members again, with what came of it. */
function change(
  services: ConsoleDependencies,
  request: FastifyRequest,
  reply: FastifyReply,
  { work, done, next = `${paths.members(workspaceOf(request).id)}?done=${done}` }: Change,
): Promise<FastifyReply> {
  return saveForm(request, reply, { work, next, refused: (problem) => membersPage(request, services, { problem }) })
}

interface Change {
  readonly work: () => Promise<void>
  readonly done: string
  /** Where a person goes who left. */
  readonly next?: string
}

function invitationRoutes(app: App, services: ConsoleDependencies): void {
  const { accounts, members, ownAddress, outbox } = services

  app.post('/members/invitations', forOwnersNow(services), async (request, reply) => {
    const role = readRole(formOf(request).role)
    const email = outbox.isOn ? (formOf(request).email?.trim().toLowerCase() ?? '') : ''
    const { id, name: workspaceName } = workspaceOf(request)
    const { id: inviterId, email: inviterEmail } = sessionOf(request).user
    const linkOf = (token: string) => ownAddress.url() + paths.invitation(token)

    async function invite(): Promise<Invited> {
      if (email === '') {
        // Only this answer has the link: its hash is stored.
        return { role, link: linkOf(await accounts.inviteToken(id, role, inviterId, actingOf(request))) }
      }
      if (!isMailAddress(email)) throw new ServiceError('bad_request', 'the e-mail address is not valid')
      // Looks for no account: the answer is the same whether the address has one.
      await accounts.inviteToken(id, role, inviterId, actingOf(request), {
        recipient: email,
        mail: (tx, { id: about, token }) => {
          const message = invitation({ workspaceName, inviterEmail, role, link: linkOf(token) })
          return outbox.addLink(tx, { recipient: email, message, about })
        },
      })
      return { role, sentTo: email }
    }

    return answerForm(request, reply, {
      work: async () => ({ page: await membersPage(request, services, { invited: await invite() }) }),
      refused: (problem) => membersPage(request, services, { problem }),
    })
  })

  app.post('/members/invitations/withdraw', { preHandler: ownersOnly }, async (request, reply) => {
    const withdraw = () => members.withdraw(workspaceOf(request).id, formOf(request).id ?? '', actingOf(request))
    return change(services, request, reply, { work: withdraw, done: 'invitation-withdrawn' })
  })
}

function settingRoutes(app: App, services: ConsoleDependencies): void {
  app.post('/name', { ...KEEPS_ALL, preHandler: ownersOnly }, async (request, reply) => {
    const { id } = workspaceOf(request)
    const name = formOf(request).name?.trim() ?? ''
    return saveForm(request, reply, {
      work: () => services.workspaces.rename(id, name, actingOf(request)),
      next: `${paths.members(id)}?done=workspace-renamed`,
      refused: (problem) => membersPage(request, services, { refusedName: { name, problem: sentence(problem) } }),
    })
  })

  app.post('/payer', { preHandler: ownersOnly }, async (request, reply) => {
    const pay = () => services.members.pay(workspaceOf(request).id, sessionOf(request).user.id, actingOf(request))
    return change(services, request, reply, { work: pay, done: 'payer-changed' })
  })

  app.post('/sign-in-rule', forOwnersNow(services), async (request, reply) => {
    const set = () => setRule(services, request, formOf(request).rule)
    return change(services, request, reply, { work: set, done: 'sign-in-rule-changed' })
  })
}

/** @throws ServiceError `bad_request`; `conflict` for a rule that would close the workspace to the one who sets it */
async function setRule(
  { members }: ConsoleDependencies,
  request: FastifyRequest,
  rule: string | undefined,
): Promise<void> {
  if (!isSignInRule(rule)) throw new ServiceError('bad_request', 'choose one of the kinds of sign-in')
  if (!meetsRule(rule, sessionOf(request).session.method)) {
    const problem = `nothing is changed: sign in with ${RULE_WORDS[rule]} yourself first, or you could not come back`
    throw new ServiceError('conflict', problem)
  }
  await members.setSignInRule(workspaceOf(request).id, rule, actingOf(request))
}

function changeRoutes(app: App, services: ConsoleDependencies): void {
  const { members } = services

  app.get<OfMember>('/members/:member/role', { preHandler: ownersOnly }, async (request, reply) =>
    showPage(request, reply, <ChangeRole {...(await requireMember(services, request))} />),
  )

  app.post<OfMember>('/members/:member/role', forOwnersNow(services), async (request, reply) => {
    const role = readRole(formOf(request).role)
    const { id } = workspaceOf(request)
    const setRole = () => members.setRole(id, request.params.member, role, actingOf(request))
    return change(services, request, reply, { work: setRole, done: 'role-changed' })
  })

  app.get<OfMember>('/members/:member/remove', async (request, reply) => {
    const asked = await requireMember(services, request)
    const made = await madeBy(services, request, asked.member)
    return showPage(request, reply, <Remove {...asked} made={made} />)
  })

  // Who leaves ends what they may do themselves.
  const isOther = (request: FastifyRequest) =>
    (request.params as OfMember['Params']).member !== workspaceOf(request).memberId
  const asks = {
    ...KEEPS_ALL,
    preHandler: [
      async (request: FastifyRequest<OfMember>) => {
        await requireMember(services, request)
      },
      freshSignInOnly(services, isOther),
    ],
  }

  app.post<OfMember>('/members/:member/remove', asks, async (request, reply) => {
    const { member } = await requireMember(services, request)
    const { id } = workspaceOf(request)
    const isSelf = member.userId === sessionOf(request).user.id
    const revoked = workspaceOf(request).isOwner ? listOf(request, REVOKE) : []
    const remove = () => members.remove(id, member.id, actingOf(request), revoked)
    const next = isSelf ? { next: paths.home } : {}
    return change(services, request, reply, { work: remove, done: 'member-removed', ...next })
  })
}

/** The keys and machines that a member made and that still work; to owners alone. */
async function madeBy(
  { keys, machines }: ConsoleDependencies,
  request: FastifyRequest,
  { userId }: MemberOfWorkspace,
): Promise<readonly MadeByMember[]> {
  if (!workspaceOf(request).isOwner) return []
  const { id } = workspaceOf(request)
  const listed: readonly (MadeByMember & Pick<ApiKey, 'createdBy' | 'revokedAt'>)[] = [
    ...(await keys.list(id)).map((key) => ({ ...key, shown: `${KEY_PREFIX}…${key.lastFour}` })),
    ...(await machines.list(id)).map((machine) => ({ ...machine, shown: machine.id })),
  ]
  return listed.filter(({ createdBy, revokedAt }) => createdBy === userId && revokedAt === null)
}

/** @throws ServiceError `bad_request` */
function readRole(text: string | undefined): Role {
  if (ROLES.has(text)) return text as Role
  throw new ServiceError('bad_request', 'a role is owner or member')
}

type ShownMembers = Pick<MembersProps, 'problem' | 'refusedName' | 'invited'>

async function membersPage(
  request: FastifyRequest,
  { members, outbox }: ConsoleDependencies,
  shown: ShownMembers = {},
): Promise<VNode> {
  const { id, isOwner } = workspaceOf(request)
  const props: MembersProps = {
    ...shown,
    sendsMail: outbox.isOn,
    members: await members.list(id),
    payer: await members.payer(id),
    invitations: isOwner ? await members.invitations(id) : [],
  }
  return <Members {...props} />
}

function Members(props: MembersProps) {
  const { id: workspaceId, isOwner } = useWorkspace()
  return (
    <ConsolePage title="Members" section="members" problem={props.problem}>
      <p>
        Members read everything in this workspace. Owners also invite people, connect destinations, make keys and submit
        claims. The account that set this service up owns each workspace that is made on the command line.
      </p>
      <MemberList {...props} />
      {isOwner ? <Payer {...props} /> : null}
      {isOwner ? <Invitations {...props} /> : null}
      {isOwner ? <WorkspaceName {...props} /> : null}
      <p>
        <a href={paths.retention(workspaceId)}>Retention</a>: how long the workspace keeps the content of its receipts.
      </p>
      {isOwner ? <SignInRules /> : null}
      {isOwner ? <Deletion /> : null}
    </ConsolePage>
  )
}

function Remove({ member, isOnlyOwner, pays, made }: Asked & { readonly made: readonly MadeByMember[] }) {
  const workspace = useWorkspace()
  const isSelf = member.userId === useViewer().user.id
  return (
    <Ask
      title={isSelf ? `Leave ${visibleName(workspace.name)}?` : `Remove ${visibleName(member.name)}?`}
      action={`${paths.members(workspace.id)}/${member.id}/remove`}
      button={isSelf ? 'Leave' : 'Remove'}
      isDangerous
      onlyOwner={isOnlyOwner ? member : undefined}
      fields={<KeysOfMember made={made} isSelf={isSelf} />}
    >
      {isSelf ? 'You lose' : `${visibleName(member.name)} (${member.email}) loses`} access to the workspace at once, and
      open invitations that {isSelf ? 'you' : 'they'} made end. Connections stay, and so do keys and machines, but those
      that you tick below. Only an invitation by an owner lets {isSelf ? 'you' : 'them'} in again.
      {pays ? paying(isSelf, member) : null}
    </Ask>
  )
}

/** What becomes of the limits that the workspace's use counts for. */
function paying(isSelf: boolean, { name }: MemberOfWorkspace): string {
  return isSelf
    ? ' What the workspace uses goes on counting for your limits, until another owner lets it count for theirs.'
    : ` What the workspace uses counts for your limits from then on, and no more for those of ${visibleName(name)}.`
}

function ChangeRole({ member, isOnlyOwner, pays }: Asked) {
  const { id } = useWorkspace()
  const role = otherRole(member)
  const isSelf = member.userId === useViewer().user.id
  const who = isSelf ? 'You' : `${visibleName(member.name)} (${member.email})`
  return (
    <Ask
      title={`Make ${isSelf ? 'yourself' : visibleName(member.name)} ${ROLE_WORDS[role]}?`}
      action={`${paths.members(id)}/${member.id}/role`}
      button={`Make ${role}`}
      value={['role', role]}
      isDangerous={role === 'member'}
      onlyOwner={isOnlyOwner && role === 'member' ? member : undefined}
    >
      {role === 'owner'
        ? `${who} can then change everything here: invite and remove people, you too, connect and disconnect destinations, make and revoke keys, and submit claims.`
        : `${who} can then still read everything here, and change nothing. Open invitations that ${isSelf ? 'you' : 'they'} made end.${pays ? paying(isSelf, member) : ''}`}
    </Ask>
  )
}

interface QuestionProps {
  readonly title: string
  readonly action: string
  readonly button: string
  /** A hidden field of the form. */
  readonly value?: readonly [name: string, value: string]
  readonly isDangerous: boolean
  /** Who stays, so that the change is not possible now. */
  readonly onlyOwner: MemberOfWorkspace | undefined
  readonly fields?: ComponentChildren
  /** What it means. */
  readonly children: ComponentChildren
}

/** Asks before a change, and says what it means. */
function Ask({ title, action, button, value, isDangerous, onlyOwner, fields, children }: QuestionProps) {
  const list = paths.members(useWorkspace().id)
  const { user } = useViewer()
  if (onlyOwner) {
    const who = onlyOwner.userId === user.id ? 'You are' : `${visibleName(onlyOwner.name)} is`
    const problem = `this is not possible now. ${who} the only owner, and a workspace needs one.`
    return (
      <ConsolePage title={title} section="members" problem={problem}>
        <p>
          Make another member an owner first. If there is no other member, invite one as an owner: both are under{' '}
          <a href={list}>Members</a>.
        </p>
      </ConsolePage>
    )
  }
  return (
    <ConsolePage title={title} section="members">
      <p>{children}</p>
      <PostForm action={action}>
        {value ? <input type="hidden" name={value[0]} value={value[1]} /> : null}
        {fields}
        <Actions submit={button} danger={isDangerous} href={list} />
      </PostForm>
    </ConsolePage>
  )
}
