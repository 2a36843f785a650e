/** The parts of the members page: the name of the workspace, its members and open invitations. */
import { visibleName } from '@claimcheck/core/words/plain-text'
import { type Column, Table } from '../../../web/parts/table.tsx'
import { Code, Name, Time } from '../../../web/parts/values.tsx'
import { sentence } from '../../../web/words.tsx'
import type { Invitation, InvitationMail, MemberOfWorkspace, Role } from '../../people/members.ts'
import { SIGN_IN_RULES } from '../../people/sign-in-rules.ts'
import type { ApiKey } from '../../workspaces/keys.ts'
import type { Refused } from '../form-page.tsx'
import { useViewer, useWorkspace } from '../page.tsx'
import { ButtonForm, Field, PostForm, RowForm, Select, Tick } from '../parts/form.tsx'
import { RULE_WORDS } from '../weak-sign-in.tsx'
import { ROLE_WORDS } from '../words.ts'

/** An invitation that was just made, and is shown only now. */
export type Invited = { readonly role: Role } & ({ readonly link: string } | { readonly sentTo: string })

interface MembersProps {
  readonly members: readonly MemberOfWorkspace[]
  readonly invitations: readonly Invitation[]
  readonly invited: Invited | undefined
  /** True where an invitation can be mailed. */
  readonly sendsMail: boolean
  /** The account that pays for the workspace; undefined if the workspace pays for itself. */
  readonly payer: { readonly id: string; readonly name: string } | undefined
}

/**
 * The form that renames the workspace.
 * @param refused a new name that was not saved
 */
export function WorkspaceName({ refused }: { refused: Refused | undefined }) {
  const { at, name } = useWorkspace()
  return (
    <>
      <h2>Workspace</h2>
      <PostForm action={at.workspaceName} class="inline">
        <Field
          name="name"
          label="Name"
          value={refused ? (refused.values.name?.trim() ?? '') : name}
          problem={refused && sentence(refused.problem)}
          required
          maxLength={64}
          autocomplete="off"
        />
        <button type="submit" class="quiet">
          Rename
        </button>
      </PostForm>
    </>
  )
}

/** Asks the owners who of them pays, once the payer is no owner any more. */
export function Payer({ payer, members }: Pick<MembersProps, 'payer' | 'members'>) {
  if (!payer || members.some(({ userId, role }) => userId === payer.id && role === 'owner')) return null
  return (
    <>
      <h2>Who pays</h2>
      <p>What this workspace uses counts for the limits of {visibleName(payer.name)}, who is no owner here any more.</p>
      <ButtonForm action={useWorkspace().at.payer}>Let it count for mine</ButtonForm>
    </>
  )
}

export function SignInRules() {
  const { at, signInRule } = useWorkspace()
  return (
    <>
      <h2>Sign-in</h2>
      <PostForm action={at.signInRule} class="inline">
        <Select
          name="rule"
          label="Members need"
          value={signInRule}
          options={SIGN_IN_RULES.map((rule) => [rule, RULE_WORDS[rule]])}
        />
        <button type="submit" class="quiet">
          Save
        </button>
      </PostForm>
      <p class="help">
        A member who signs in with less sees what to set up, and nothing of this workspace. Applications that members
        connected have to be allowed again. Sign-ins with the OpenID provider of this service count as a second step:
        whether it asks for one is up to the provider. API keys need no sign-in.
      </p>
    </>
  )
}

export function Deletion() {
  return (
    <>
      <h2>Deleting the workspace</h2>
      <p>
        <a class="button danger quiet" href={useWorkspace().at.deleteWorkspace}>
          Delete the workspace
        </a>
      </p>
    </>
  )
}

/** The name of the field with the keys that are revoked with a member. */
export const REVOKE = 'revoke'

/** A key or a machine that a member made. */
export interface MadeByMember extends Pick<ApiKey, 'id' | 'name' | 'createdAt' | 'lastUsedAt'> {
  /** The text by which people recognize the key or machine, without its secret. */
  readonly shown: string
}

/** Offers to revoke the keys that a member made: they may have kept a copy of each. */
export function KeysOfMember({ made, isSelf }: { made: readonly MadeByMember[]; isSelf: boolean }) {
  if (made.length === 0) return null
  return (
    <fieldset>
      <legend>Revoke what {isSelf ? 'you' : 'they'} made</legend>
      {made.map(({ id, name, shown, createdAt, lastUsedAt }) => (
        <Tick field={REVOKE} value={id} isTicked={!isSelf}>
          <Name of={name} /> <code>{shown}</code>{' '}
          <small>
            made <Time at={createdAt} />, last used <Time at={lastUsedAt} none="never" />
          </small>
        </Tick>
      ))}
      <p class="help">
        API keys and machines. The next request with a revoked one is refused. {isSelf ? 'You' : 'They'} may have a copy
        of each: make another one for a program that still needs it.
      </p>
    </fieldset>
  )
}

export function MemberList({ members, sendsMail }: Pick<MembersProps, 'members' | 'sendsMail'>) {
  const { user } = useViewer()
  const { isOwner } = useWorkspace()
  const columns: readonly Column<MemberOfWorkspace>[] = [
    [
      'Name',
      ({ name, userId }) => (
        <>
          <Name of={name} /> {userId === user.id && <small>(you)</small>}
        </>
      ),
    ],
    [
      'E-mail',
      ({ email, isConfirmed }) => (
        <>
          {email} {sendsMail && !isConfirmed && <small>(not confirmed)</small>}
        </>
      ),
    ],
    ['Role', ({ role }) => role],
    ['Since', ({ createdAt }) => <Time at={createdAt} />],
    [
      'Change',
      (member) => (
        <div class="actions">
          {isOwner && <RoleLink member={member} />}
          {(isOwner || member.userId === user.id) && <RemoveLink member={member} />}
        </div>
      ),
    ],
  ]
  return <Table stacks label="Members" columns={columns} rows={members} />
}

function RoleLink({ member }: { member: MemberOfWorkspace }) {
  const { at } = useWorkspace()
  const role = otherRole(member)
  return (
    <a class="button quiet" href={at.changeRole(member.id)} aria-label={`Make ${role}: ${visibleName(member.name)}`}>
      Make {role}
    </a>
  )
}

/** Returns the role that a member gets by a change. */
export function otherRole({ role }: Pick<MemberOfWorkspace, 'role'>): Role {
  return role === 'owner' ? 'member' : 'owner'
}

function RemoveLink({ member }: { member: MemberOfWorkspace }) {
  const { at } = useWorkspace()
  const isSelf = member.userId === useViewer().user.id
  return (
    <a
      class="button danger quiet"
      href={at.removeMember(member.id)}
      aria-label={isSelf ? 'Leave the workspace' : `Remove ${visibleName(member.name)}`}
    >
      {isSelf ? 'Leave' : 'Remove'}
    </a>
  )
}

export function Invitations({
  invitations,
  invited,
  sendsMail,
}: Pick<MembersProps, 'invitations' | 'invited' | 'sendsMail'>) {
  const { at } = useWorkspace()
  return (
    <>
      <h2>Invite</h2>
      {invited && 'sentTo' in invited && (
        <p class="notice" role="status">
          The invitation as {ROLE_WORDS[invited.role]} is on its way to {invited.sentTo}. It works for 7 days. An
          earlier one for this address has ended.
        </p>
      )}
      {invited && 'link' in invited && (
        <div class="card" role="status">
          <p>
            Copy this link now, and send it to the person that you invite as {ROLE_WORDS[invited.role]}. It lets one
            person join, works for 7 days, and is not shown again:
          </p>
          <Code text={invited.link} label="invitation link" />
        </div>
      )}
      <PostForm action={at.invitations} class="inline">
        <Select
          name="role"
          label="Role"
          options={[
            ['member', 'Member'],
            ['owner', 'Owner'],
          ]}
        />
        {sendsMail && (
          <Field
            name="email"
            label="Send it to"
            type="email"
            autocomplete="off"
            help="Leave it empty to get a link that you pass on."
          />
        )}
        <button type="submit">{sendsMail ? 'Invite' : 'Make a link'}</button>
      </PostForm>
      {invitations.length > 0 && <OpenInvitations invitations={invitations} />}
    </>
  )
}

function OpenInvitations({ invitations }: Pick<MembersProps, 'invitations'>) {
  const { at } = useWorkspace()
  const columns: readonly Column<Invitation>[] = [
    ['For', ({ mail }) => (mail ? <Mailed {...mail} /> : 'whom it was passed on to')],
    ['Role', ({ role }) => role],
    ['By', ({ createdBy }) => createdBy ?? 'command line'],
    ['Made', ({ createdAt }) => <Time at={createdAt} />],
    ['Expires', ({ expiresAt }) => <Time at={expiresAt} />],
    [
      'Withdraw',
      ({ id, role, createdBy, mail }) => (
        <RowForm
          action={`${at.invitations}/withdraw`}
          id={id}
          label={`Withdraw the invitation for ${mail?.recipient ?? ROLE_WORDS[role]} by ${createdBy ?? 'the command line'}`}
        >
          Withdraw
        </RowForm>
      ),
    ],
  ]
  return (
    <>
      <h2>Open invitations</h2>
      <Table stacks label="Open invitations" columns={columns} rows={invitations} />
    </>
  )
}

function Mailed({ recipient, attempts, undelivered }: InvitationMail) {
  return (
    <>
      {recipient}
      {undelivered !== null && (
        <p class="mistake">The mail could not be delivered. The mail server says: {undelivered}</p>
      )}
      {attempts !== null && (
        <p class="help">
          The mail waits to be sent{attempts > 1 ? `: ${attempts} tries so far. It is tried for a day` : ''}.
        </p>
      )}
    </>
  )
}
