/** The members page. Owners rename the workspace, invite, change roles and remove; every member may leave. Changes of members ask first. */
import { visibleName } from '@claimcheck/core/words/plain-text'
import type { FastifyRequest } from 'fastify'
import type { ComponentChildren, VNode } from 'preact'
import { ServiceError } from '../../../base/errors.ts'
import { HttpError } from '../../../http/errors.ts'
import type { App } from '../../../http/instance.ts'
import { paths } from '../../../web/console-paths.ts'
import { isMailAddress } from '../../mail/config.ts'
import { invitation } from '../../mail/messages.ts'
import type { MemberOfWorkspace, Role } from '../../people/members.ts'
import { isSignInRule, meetsRule } from '../../people/sign-in-rules.ts'
import { type ApiKey, KEY_PREFIX } from '../../workspaces/keys.ts'
import type { ConsoleDependencies } from '../dependencies.ts'
import { addPage, type Form, FRESH_SIGN_IN, type Refused, type Visit, withNotice } from '../form-page.tsx'
import { ConsolePage, useViewer, useWorkspace, type ViewedWorkspace } from '../page.tsx'
import { Actions, PostForm } from '../parts/form.tsx'
import { listOf } from '../request-fields.ts'
import { sessionOf, workspaceOf } from '../session.ts'
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
  otherRole,
  Payer,
  REVOKE,
  SignInRules,
  WorkspaceName,
} from './members-parts.tsx'

/** The member whom a form changes. */
interface ChangedMember {
  readonly member: MemberOfWorkspace
  /** True if the member pays for the workspace, so that it counts against their limits. */
  readonly pays: boolean
  /** True if no other member is an owner, so that the member has to stay. */
  readonly isOnlyOwner: boolean
}

export function memberRoutes(app: App, services: ConsoleDependencies): void {
  const { members, workspaces } = services

  addPage(app, services, '/members', {
    show: ({ workspace, refused }) => membersPage(services, workspace, { refused }),
    forms: {
      '/members/invitations': invitationForm(services),
      '/members/invitations/withdraw': {
        owners: true,
        freshSignIn: 'ends access',
        save: ({ workspace, form, by }) => members.withdraw(workspace.id, form.id ?? '', by),
        done: 'invitation-withdrawn',
      },
      '/name': {
        owners: true,
        freshSignIn: 'changes words alone',
        keepsField: KEEPS_ALL,
        save: ({ workspace, form, by }) => workspaces.rename(workspace.id, form.name?.trim() ?? '', by),
        done: 'workspace-renamed',
      },
      '/payer': {
        owners: true,
        freshSignIn: 'counts what is used for who asks',
        save: ({ workspace, user, by }) => members.pay(workspace.id, user.id, by),
        done: 'payer-changed',
      },
      '/sign-in-rule': {
        owners: true,
        ...FRESH_SIGN_IN,
        save: async ({ workspace, session, form: { rule }, by }) => {
          if (!isSignInRule(rule)) throw new ServiceError('bad_request', 'choose one of the kinds of sign-in')
          if (!meetsRule(rule, session.method)) {
            const problem = `nothing is changed: sign in with ${RULE_WORDS[rule]} yourself first, or you could not come back`
            throw new ServiceError('conflict', problem)
          }
          await members.setSignInRule(workspace.id, rule, by)
        },
        done: 'sign-in-rule-changed',
      },
      '/members/:member/role': {
        owners: true,
        ...FRESH_SIGN_IN,
        save: async ({ workspace, params, form, by }) =>
          members.setRole(workspace.id, params.member, readRole(form.role), by),
        done: 'role-changed',
      },
      '/members/:member/remove': removalForm(services),
    },
  })

  addPage(app, services, '/members/:member/role', {
    owners: true,
    load: ({ request }) => requireMember(services, request),
    show: ({ loaded }) => <ChangeRole {...loaded} />,
  })

  addPage(app, services, '/members/:member/remove', {
    load: ({ request }) => requireMember(services, request),
    show: async ({ loaded, workspace }) => (
      <Remove {...loaded} made={await madeBy(services, workspace, loaded.member)} />
    ),
  })
}

function invitationForm(services: ConsoleDependencies): Form<unknown> {
  const { accounts, ownAddress, outbox } = services

  async function invite({ workspace: { id, name: workspaceName }, user, form, by }: Visit): Promise<Invited> {
    const role = readRole(form.role)
    const email = outbox.isOn ? (form.email?.trim().toLowerCase() ?? '') : ''
    const linkOf = (token: string) => ownAddress.url() + paths.invitation(token)
    // The link is in this answer only: its hash is stored.
    if (email === '') return { role, link: linkOf(await accounts.inviteToken(id, role, user.id, by)) }
    if (!isMailAddress(email)) throw new ServiceError('bad_request', 'the e-mail address is not valid')
    // No account is looked for, so that the answer is the same whether the address has one.
    await accounts.inviteToken(id, role, user.id, by, {
      recipient: email,
      mail: (tx, { id: about, token }) => {
        const message = invitation({ workspaceName, inviterEmail: user.email, role, link: linkOf(token) })
        return outbox.addLink(tx, { recipient: email, message, about })
      },
    })
    return { role, sentTo: email }
  }

  return {
    owners: true,
    ...FRESH_SIGN_IN,
    answer: async (visit) => membersPage(services, visit.workspace, { invited: await invite(visit) }),
  }
}

/** Removes a member, or lets a member leave. */
function removalForm(services: ConsoleDependencies): Form<unknown> {
  return {
    freshSignIn: async (request) => {
      const { member } = await requireMember(services, request)
      // People who leave need no fresh sign-in: they end only what they may do themselves.
      return member.userId !== sessionOf(request).user.id
    },
    keepsField: KEEPS_ALL,
    answer: async ({ request, workspace, user, by }) => {
      const { member } = await requireMember(services, request)
      const revoked = workspace.isOwner ? listOf(request, REVOKE) : []
      await services.members.remove(workspace.id, member.id, by, revoked)
      return member.userId === user.id ? paths.home : withNotice(workspace.at.members, 'member-removed')
    },
  }
}

/** Finds the member that the address names. Only owners change others. */
async function requireMember({ members }: ConsoleDependencies, request: FastifyRequest): Promise<ChangedMember> {
  const { id: workspaceId, isOwner } = workspaceOf(request)
  const { member: memberId } = request.params as { readonly member: string }
  const payer = await members.payer(workspaceId)
  const listed = await members.list(workspaceId)
  const member = listed.find(({ id }) => id === memberId)
  if (!member || !(isOwner || member.userId === sessionOf(request).user.id))
    throw new ServiceError('not_found', 'there is no such page')
  const hasOther = listed.some(({ id, role }) => role === 'owner' && id !== member.id)
  return { member, isOnlyOwner: !hasOther, pays: payer?.id === member.userId }
}

/** Lists the keys and machines that a member made and that still work, for owners alone. */
async function madeBy(
  { keys, machines }: ConsoleDependencies,
  { id, isOwner }: ViewedWorkspace,
  { userId }: MemberOfWorkspace,
): Promise<readonly MadeByMember[]> {
  if (!isOwner) return []
  const listed: readonly (MadeByMember & Pick<ApiKey, 'createdBy' | 'revokedAt'>)[] = [
    ...(await keys.list(id)).map((key) => ({ ...key, shown: `${KEY_PREFIX}…${key.lastFour}` })),
    ...(await machines.list(id)).map((machine) => ({ ...machine, shown: machine.id })),
  ]
  return listed.filter(({ createdBy, revokedAt }) => createdBy === userId && revokedAt === null)
}

/**
 * Reads a role.
 * @throws HttpError 400: no form of ours sends another text
 */
function readRole(text: string | undefined): Role {
  if (text === 'owner' || text === 'member') return text
  throw new HttpError(400, 'a role is owner or member')
}

async function membersPage(
  { members, outbox }: ConsoleDependencies,
  { id, isOwner, at }: ViewedWorkspace,
  { refused, invited }: { readonly refused?: Refused; readonly invited?: Invited },
): Promise<VNode> {
  const props = {
    invited,
    sendsMail: outbox.isOn,
    members: await members.list(id),
    payer: await members.payer(id),
    invitations: isOwner ? await members.invitations(id) : [],
  }
  const refusedName = refused?.form === '/name' ? refused : undefined
  return (
    <ConsolePage title="Members" section="members" problem={refusedName ? undefined : refused?.problem}>
      <p>
        Members read everything in this workspace. Owners also invite people, connect destinations, make keys and submit
        claims. The account that set this service up owns each workspace that is made on the command line.
      </p>
      <MemberList {...props} />
      {isOwner && (
        <>
          <Payer {...props} />
          <Invitations {...props} />
          <WorkspaceName refused={refusedName} />
        </>
      )}
      <p>
        <a href={at.retention}>Retention</a>: how long the workspace keeps the content of its receipts.{' '}
        <a href={at.revisits}>Looking again</a>: whether what was verified is still there later.
      </p>
      {isOwner && (
        <>
          <SignInRules />
          <Deletion />
        </>
      )}
    </ConsolePage>
  )
}

function Remove({ member, isOnlyOwner, pays, made }: ChangedMember & { made: readonly MadeByMember[] }) {
  const { name: workspaceName, at } = useWorkspace()
  const isSelf = member.userId === useViewer().user.id
  const name = visibleName(member.name)
  return (
    <Ask
      title={isSelf ? `Leave ${visibleName(workspaceName)}?` : `Remove ${name}?`}
      action={at.removeMember(member.id)}
      button={isSelf ? 'Leave' : 'Remove'}
      isDangerous
      onlyOwner={isOnlyOwner ? member : undefined}
      fields={<KeysOfMember made={made} isSelf={isSelf} />}
    >
      {isSelf ? 'You lose' : `${name} (${member.email}) loses`} access to the workspace at once, and open invitations
      that {isSelf ? 'you' : 'they'} made end. Connections stay, and so do keys and machines, but those that you tick
      below. Only an invitation by an owner lets {isSelf ? 'you' : 'them'} in again.
      {pays ? paymentWords(isSelf, name) : null}
    </Ask>
  )
}

/** Tells what becomes of the limits that the workspace counts against. */
function paymentWords(isSelf: boolean, name: string): string {
  return isSelf
    ? ' What the workspace uses goes on counting for your limits, until another owner lets it count for theirs.'
    : ` What the workspace uses counts for your limits from then on, and no more for those of ${name}.`
}

function ChangeRole({ member, isOnlyOwner, pays }: ChangedMember) {
  const role = otherRole(member)
  const isSelf = member.userId === useViewer().user.id
  const name = visibleName(member.name)
  const who = isSelf ? 'You' : `${name} (${member.email})`
  return (
    <Ask
      title={`Make ${isSelf ? 'yourself' : name} ${ROLE_WORDS[role]}?`}
      action={useWorkspace().at.changeRole(member.id)}
      button={`Make ${role}`}
      fields={<input type="hidden" name="role" value={role} />}
      isDangerous={role === 'member'}
      onlyOwner={isOnlyOwner && role === 'member' ? member : undefined}
    >
      {role === 'owner'
        ? `${who} can then change everything here: invite and remove people, you too, connect and disconnect destinations, make and revoke keys, and submit claims.`
        : `${who} can then still read everything here, and change nothing. Open invitations that ${isSelf ? 'you' : 'they'} made end.${pays ? paymentWords(isSelf, name) : ''}`}
    </Ask>
  )
}

/**
 * Asks before a change, and says what it means.
 * @param onlyOwner the only owner, who has to stay, so that the change is not possible now
 */
function Ask({
  title,
  action,
  button,
  isDangerous = false,
  onlyOwner,
  fields,
  children,
}: {
  title: string
  action: string
  button: string
  isDangerous?: boolean
  onlyOwner: MemberOfWorkspace | undefined
  fields: ComponentChildren
  children: ComponentChildren
}) {
  const { members } = useWorkspace().at
  const { user } = useViewer()
  if (onlyOwner) {
    const who = onlyOwner.userId === user.id ? 'You are' : `${visibleName(onlyOwner.name)} is`
    const problem = `this is not possible now. ${who} the only owner, and a workspace needs one.`
    return (
      <ConsolePage title={title} section="members" problem={problem}>
        <p>
          Make another member an owner first. If there is no other member, invite one as an owner: both are under{' '}
          <a href={members}>Members</a>.
        </p>
      </ConsolePage>
    )
  }
  return (
    <ConsolePage title={title} section="members">
      <p>{children}</p>
      <PostForm action={action}>
        {fields}
        <Actions submit={button} danger={isDangerous} href={members} />
      </PostForm>
    </ConsolePage>
  )
}
