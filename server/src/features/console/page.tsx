/** The pages of the console: plain ones, and those of people who are signed in. */

import type { Instant } from '@claimcheck/core/rules'
import { visibleName } from '@claimcheck/core/words/plain-text'
import { type ComponentChildren, createContext } from 'preact'
import { useContext } from 'preact/hooks'
import { paths } from '../../web/console-paths.ts'
import { Document, type DocumentProps } from '../../web/document.tsx'
import { Logo } from '../../web/parts/icons.tsx'
import { Name, Now } from '../../web/parts/values.tsx'
import { publicPaths } from '../../web/paths.ts'
import type { WorkspaceOfMember } from '../people/members.ts'
import type { User } from '../people/sessions.ts'
import { Csrf, CsrfField } from './parts/form.tsx'
import { Notice } from './parts/notice.tsx'

interface PageProps extends DocumentProps {
  /** The reason why the form on the page was refused. */
  readonly problem?: string | undefined
}

interface PlainPageProps extends PageProps {
  readonly done?: string | undefined
  /** The token of the session that this browser has. */
  readonly csrf?: string | undefined
}

/** A page outside of any workspace. */
export function PlainPage({ title, problem, done, scripts, csrf, children }: PlainPageProps) {
  return (
    <Document title={title} scripts={scripts}>
      <header class="bar">
        <a class="brand" href={paths.home}>
          <Logo /> Claimcheck
        </a>
      </header>
      <main id="main" class="plain" tabIndex={-1}>
        <h1>{title}</h1>
        <Notice problem={problem} done={done} />
        <Csrf.Provider value={csrf}>{children}</Csrf.Provider>
      </main>
    </Document>
  )
}

export interface ViewedWorkspace extends WorkspaceOfMember {
  /** True if the viewer is one of the workspace's owners. */
  readonly isOwner: boolean
  /** True if the viewer signed in as the workspace asks for: otherwise they see and do nothing there. */
  readonly isOpen: boolean
}

/** The viewer of a page, and the workspace in which they view it. */
export interface Viewer {
  readonly user: User
  readonly csrf: string
  readonly now: Instant
  readonly workspaces: readonly ViewedWorkspace[]
  readonly workspace?: ViewedWorkspace | undefined
  /** The code of the notice that the address asks for. */
  readonly done?: string | undefined
}

export const Viewing = createContext<Viewer | undefined>(undefined)

/** Returns the viewer, on a page for people who are signed in. */
export function useViewer(): Viewer {
  return useContext(Viewing)!
}

/** Returns the workspace, on a page that is in one. */
export function useWorkspace(): ViewedWorkspace {
  return useViewer().workspace!
}

export type Section =
  | 'claims'
  | 'agents'
  | 'connections'
  | 'developers'
  | 'members'
  | 'plugins'
  | 'auditTrail'
  | 'account'

const SECTIONS: readonly (readonly [Exclude<Section, 'account'>, string])[] = [
  ['claims', 'Claims'],
  ['agents', 'Agents'],
  ['connections', 'Connections'],
  ['developers', 'Developers'],
  ['members', 'Members'],
]

const FOR_OWNERS: typeof SECTIONS = [
  ['plugins', 'Plugins'],
  ['auditTrail', 'Audit trail'],
]

interface ConsolePageProps extends PageProps {
  readonly heading?: ComponentChildren
  /** The section of the console that the page belongs to; left out on error pages. */
  readonly section?: Section
  /** Buttons beside the heading of the page. */
  readonly actions?: ComponentChildren
}

/** The id of the header's list of links. On a narrow screen they are folded behind a button, which needs no script. */
const WAYS = 'ways'

/** A page for people who are signed in. */
export function ConsolePage(props: ConsolePageProps) {
  const { title, heading = title, section, actions, problem, scripts, children } = props
  const { user, csrf, now, workspace, done } = useViewer()
  return (
    <Document title={workspace ? `${title} · ${visibleName(workspace.name)}` : title} scripts={scripts}>
      <Csrf.Provider value={csrf}>
        <Now.Provider value={now}>
          <header class="bar">
            <a class="brand" href={workspace ? paths.claims(workspace.id) : paths.home}>
              <Logo /> Claimcheck
            </a>
            <WorkspaceMenu />
            <button type="button" class="quiet fold" popovertarget={WAYS}>
              Menu
            </button>
            <div class="ways" id={WAYS} popover="auto">
              {workspace ? (
                <nav class="sections" aria-label="Workspace">
                  {[...SECTIONS, ...(workspace.isOwner ? FOR_OWNERS : [])].map(([name, label]) => (
                    <a href={paths[name](workspace.id)} aria-current={name === section ? 'page' : undefined}>
                      {label}
                    </a>
                  ))}
                </nav>
              ) : null}
              <nav class="person" aria-label="Account">
                <a href={publicPaths.docs}>Docs</a>
                <a href={paths.account} aria-current={section === 'account' ? 'page' : undefined}>
                  <Name of={user.name} />
                </a>
                <form method="post" action={paths.signOut}>
                  <CsrfField />
                  <button type="submit" class="quiet">
                    Sign out
                  </button>
                </form>
              </nav>
            </div>
          </header>
          <main id="main" tabIndex={-1}>
            <div class="heading">
              <h1>{heading}</h1>
              {actions ? <div class="actions">{actions}</div> : null}
            </div>
            <Notice problem={problem} done={done} />
            {children}
          </main>
        </Now.Provider>
      </Csrf.Provider>
    </Document>
  )
}

function WorkspaceMenu() {
  const { workspaces, workspace } = useViewer()
  return (
    <details class="menu">
      <summary>{workspace ? <Name of={workspace.name} /> : 'Workspaces'}</summary>
      <ul>
        {workspaces.map(({ id, name, role }) => (
          <li>
            <a href={paths.claims(id)} aria-current={id === workspace?.id ? 'true' : undefined}>
              <Name of={name} /> <small>{role}</small>
            </a>
          </li>
        ))}
        <li>
          <a href={paths.newWorkspace}>New workspace</a>
        </li>
      </ul>
    </details>
  )
}
