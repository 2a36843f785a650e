/** The first steps in a workspace without any claim: what is done, what to do, and a command that can be pasted. */
import type { ActionProfile } from '@claimcheck/core/plugin'
import type { ComponentChildren } from 'preact'
import { Code } from '../../../web/parts/values.tsx'
import type { ConsoleDependencies } from '../dependencies.ts'
import { firstClaimCommand, firstProfile } from '../first-claim.ts'
import { useWorkspace } from '../page.tsx'

export interface FirstStepsState {
  readonly hasKey: boolean
  /** The titles of the connected destinations, each once. */
  readonly connected: readonly string[]
  /** True if some claims are read without a connection. */
  readonly readsPublic: boolean
  /** The action that the command claims. */
  readonly profile: ActionProfile | undefined
  readonly command: string
}

export async function firstStepsOf(
  workspaceId: string,
  origin: string,
  { keys, connections, registry }: ConsoleDependencies,
): Promise<FirstStepsState> {
  const [ofWorkspace, connected] = await Promise.all([keys.list(workspaceId), connections.list(workspaceId)])
  const providers = connected.map(({ provider }) => provider)
  const profile = firstProfile(registry, providers)
  return {
    hasKey: ofWorkspace.some(({ revokedAt }) => revokedAt === null),
    connected: [...new Set(providers.map((provider) => registry.connectionType(provider)?.title ?? provider))],
    readsPublic: registry.publicActions().length > 0,
    profile,
    command: firstClaimCommand({ origin, key: '$KEY', profile }),
  }
}

export function FirstSteps(state: FirstStepsState) {
  const { hasKey, connected, readsPublic, profile, command } = state
  const { at, isOwner } = useWorkspace()
  return (
    <section class="empty first-steps">
      <h2>No claims yet</h2>
      <p>Three steps lead to the first receipt.</p>
      <ol>
        <Step title="Make a key" state={hasKey ? 'done' : 'to do'}>
          <p>
            Agents submit claims with it.{' '}
            {isOwner ? (
              <a href={at.developers}>{hasKey ? 'See the keys' : 'Make a key'}</a>
            ) : (
              <>
                An owner of the workspace makes it under <a href={at.developers}>Developers</a>.
              </>
            )}
          </p>
        </Step>
        <Step title="Connect a destination" state={stateOfDestinations(state)}>
          <p>
            {connected.length > 0 && `Connected: ${connected.join(', ')}. `}
            {connected.length === 0 && readsPublic && 'Public destinations need no connection. '}
            <a href={at.connections}>{connected.length > 0 ? 'See the connections' : 'Connect a destination'}</a>
          </p>
        </Step>
        <Step title="Submit a claim" state="to do">
          {profile ? (
            <p>
              Set <code>KEY</code> to your key in a shell, and run the command. The example is of{' '}
              <b>{profile.words.title}</b>: replace it with what your agent did.
            </p>
          ) : (
            <p>
              No plugin is configured, so that every claim is unverifiable: ask the operator of this service to add one.
            </p>
          )}
          <Code text="export KEY=svc_sk_..." label="the line that sets the key" />
          <Code text={command} label="the command" />
          {isOwner && profile && (
            <p>
              Or <a href={`${at.newClaim}?action=${encodeURIComponent(profile.action)}`}>fill in a form</a>.
            </p>
          )}
        </Step>
      </ol>
    </section>
  )
}

type StepState = 'done' | 'to do' | 'optional'

function stateOfDestinations({ connected, readsPublic }: FirstStepsState): StepState {
  if (connected.length > 0) return 'done'
  return readsPublic ? 'optional' : 'to do'
}

function Step({ title, state, children }: { title: string; state: StepState; children: ComponentChildren }) {
  return (
    <li class={state === 'done' ? 'done' : undefined}>
      <h3>
        {title} <small class="state">{state}</small>
      </h3>
      {children}
    </li>
  )
}
