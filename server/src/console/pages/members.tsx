/** The members page. Owners invite, change roles and remove; every member may leave. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { ServiceError } from '../../base/errors.ts'
import type { App } from '../../http/instance.ts'
import type { MemberOfWorkspace, Role } from '../../people/members.ts'
import { sendPage } from '../../web/document.tsx'
import { originOf } from '../../web/origin.ts'
import type { ConsoleDependencies } from '../dependencies.ts'
import { ConsolePage } from '../page.tsx'
import { PostForm } from '../parts/form.tsx'
import { paths } from '../paths.ts'
import { refusalOf } from '../refusal.ts'
import { formOf, queryOf } from '../request-fields.ts'
import { isOwner, ownersOnly, sessionOf, viewerOf, workspaceOf } from '../session.ts'
import { KEEPS_ALL } from '../unsent.tsx'
import { Invitations, MemberList, type MembersProps } from './members-parts.tsx'

type MembersServices = Pick<ConsoleDependencies, 'accounts' | 'members' | 'config' | 'now'>

type OfMember = { Params: { member: string } }

const ROLES: ReadonlySet<unknown> = new Set<Role>(['owner', 'member'])

export function memberRoutes(app: App, services: MembersServices): void {
  const { accounts, members, config } = services

  async function requireMember(request: FastifyRequest<OfMember>): Promise<MemberOfWorkspace> {
    const listed = await members.list(workspaceOf(request).id)
    const member = listed.find(({ id }) => id === request.params.member)
    // Only owners remove others.
    const isSelf = member?.userId === sessionOf(request).user.id
    if (member && (isSelf || isOwner(request))) return member
    throw new ServiceError('not_found', 'there is no such page')
  }

  /** Runs `work`, and shows the members again, with a problem where there was one. */
  async function change(request: FastifyRequest, reply: FastifyReply, work: () => Promise<void>, next: string) {
    try {
      await work()
    } catch (error) {
      return sendMembers(request, reply, services, { problem: refusalOf(error) })
    }
    return reply.redirect(next, 303)
  }

  app.get('/members', async (request, reply) => sendMembers(request, reply, services, { done: queryOf(request).done }))

  app.post('/members/invitations', { ...KEEPS_ALL, preHandler: ownersOnly }, async (request, reply) => {
    const role = readRole(formOf(request).role)
    try {
      const token = await accounts.inviteToken(workspaceOf(request).id, role, sessionOf(request).user.id)
      const base = config.publicUrl ?? originOf(request, undefined)
      // Only this answer has the link: its hash is stored.
      return await sendMembers(request, reply, services, { invitation: { link: base + paths.invitation(token), role } })
    } catch (error) {
      return sendMembers(request, reply, services, { problem: refusalOf(error) })
    }
  })

  app.post('/members/invitations/withdraw', { preHandler: ownersOnly }, async (request, reply) => {
    const { id } = workspaceOf(request)
    const withdraw = () => members.withdraw(id, formOf(request).id ?? '')
    return change(request, reply, withdraw, `${paths.members(id)}?done=invitation-withdrawn`)
  })

  app.post<OfMember>('/members/:member/role', { preHandler: ownersOnly }, async (request, reply) => {
    const { id } = workspaceOf(request)
    const role = readRole(formOf(request).role)
    const setRole = () => members.setRole(id, request.params.member, role)
    return change(request, reply, setRole, `${paths.members(id)}?done=role-changed`)
  })

  app.get<OfMember>('/members/:member/remove', async (request, reply) => {
    const member = await requireMember(request)
    return sendPage(reply, <Remove viewer={viewerOf(request)} member={member} />)
  })

  app.post<OfMember>('/members/:member/remove', async (request, reply) => {
    const { id } = workspaceOf(request)
    const member = await requireMember(request)
    const isSelf = member.userId === sessionOf(request).user.id
    const next = isSelf ? paths.home : `${paths.members(id)}?done=member-removed`
    return change(request, reply, () => members.remove(id, member.id), next)
  })
}

/** @throws ServiceError `bad_request` */
function readRole(text: string | undefined): Role {
  if (ROLES.has(text)) return text as Role
  throw new ServiceError('bad_request', 'a role is owner or member')
}

async function sendMembers(
  request: FastifyRequest,
  reply: FastifyReply,
  { members, now }: MembersServices,
  shown: Pick<MembersProps, 'problem' | 'done' | 'invitation'>,
): Promise<FastifyReply> {
  const { id } = workspaceOf(request)
  const props: MembersProps = {
    ...shown,
    viewer: viewerOf(request),
    workspaceId: id,
    isOwner: isOwner(request),
    now: now(),
    members: await members.list(id),
    invitations: isOwner(request) ? await members.invitations(id) : [],
  }
  return sendPage(reply, <Members {...props} />, shown.problem === undefined ? 200 : 422)
}

function Members(props: MembersProps) {
  const { viewer, problem, done } = props
  return (
    <ConsolePage title="Members" viewer={viewer} section="members" problem={problem} done={done}>
      <p>
        Members read everything in this workspace. Owners also invite people, connect destinations, make keys and submit
        claims. The account that set this service up owns each workspace that is made on the command line.
      </p>
      <MemberList {...props} />
      {props.isOwner ? <Invitations {...props} /> : null}
    </ConsolePage>
  )
}

function Remove({ viewer, member }: Pick<MembersProps, 'viewer'> & { readonly member: MemberOfWorkspace }) {
  const workspace = viewer.workspace!
  const isSelf = member.userId === viewer.user.id
  const list = paths.members(workspace.id)
  return (
    <ConsolePage
      title={isSelf ? `Leave ${workspace.name}?` : `Remove ${member.name}?`}
      viewer={viewer}
      section="members"
    >
      <p>
        {isSelf ? 'You lose' : `${member.name} (${member.email}) loses`} access to the workspace at once, and open
        invitations that {isSelf ? 'you' : 'they'} made end. Keys and connections stay.
      </p>
      <PostForm action={`${list}/${member.id}/remove`} csrf={viewer.csrf} class="actions">
        <button type="submit" class="danger">
          {isSelf ? 'Leave' : 'Remove'}
        </button>
        <a class="button quiet" href={list}>
          Cancel
        </a>
      </PostForm>
    </ConsolePage>
  )
}
