/** The pages of the console: plain ones, and those of people who are signed in. */

import type { Instant } from '@claimcheck/core/rules'
import { visibleName } from '@claimcheck/core/words/plain-text'
import { type ComponentChildren, createContext } from 'preact'
import { useContext } from 'preact/hooks'
import { paths, type WorkspacePaths } from '../../web/console-paths.ts'
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
  readonly problem?: string
}

/**
 * A page outside of any workspace.
 * @param csrf the token of the session that this browser has
 */
export function PlainPage({
  title,
  problem,
  done,
  scripts,
  csrf,
  children,
}: PageProps & { done?: string; csrf?: string }) {
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
  /** The paths of the workspace's pages. */
  readonly at: WorkspacePaths
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
  readonly workspace?: ViewedWorkspace
  /** The code of the notice that the address asks for. */
  readonly done?: string
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

const SECTIONS = [
  ['claims', 'Claims'],
  ['agents', 'Agents'],
  ['connections', 'Connections'],
  ['developers', 'Developers'],
  ['members', 'Members'],
] as const

const FOR_OWNERS = [
  ['plugins', 'Plugins'],
  ['auditTrail', 'Audit trail'],
] as const

type Section = (typeof SECTIONS | typeof FOR_OWNERS)[number][0] | 'account'

/** The id of the header's list of links. On a narrow screen they are folded behind a button, which needs no script. */
const WAYS = 'ways'

/**
 * A page for people who are signed in.
 * @param section the section of the console that the page belongs to; left out on error pages
 * @param actions buttons beside the heading of the page
 */
export function ConsolePage({
  title,
  heading = title,
  section,
  actions,
  problem,
  scripts,
  children,
}: PageProps & { heading?: ComponentChildren; section?: Section; actions?: ComponentChildren }) {
  const { user, csrf, now, workspace, done } = useViewer()
  return (
    <Document title={workspace ? `${title} · ${visibleName(workspace.name)}` : title} scripts={scripts}>
      <Csrf.Provider value={csrf}>
        <Now.Provider value={now}>
          <header class="bar">
            <a class="brand" href={workspace ? workspace.at.claims : paths.home}>
              <Logo /> Claimcheck
            </a>
            <WorkspaceMenu />
            <button type="button" class="quiet fold" popovertarget={WAYS}>
              Menu
            </button>
            <div class="ways" id={WAYS} popover="auto">
              {workspace && (
                <nav class="sections" aria-label="Workspace">
                  {[...SECTIONS, ...(workspace.isOwner ? FOR_OWNERS : [])].map(([name, label]) => (
                    <a href={workspace.at[name]} aria-current={name === section ? 'page' : undefined}>
                      {label}
                    </a>
                  ))}
                </nav>
              )}
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
              {actions && <div class="actions">{actions}</div>}
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
        {workspaces.map(({ id, at, name, role }) => (
          <li>
            <a href={at.claims} aria-current={id === workspace?.id ? 'true' : undefined}>
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
