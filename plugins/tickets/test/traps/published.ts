/** The published descriptions of what the stand-ins answer with: names and types of fields, `!` after those that are always there. */

/**
 * Jira by its OpenAPI description of version 3, to which documentation adds `toString` of a change; Data Center by the same schemas without
 * what is Cloud's alone, and the answers that people report of it. Redmine by the templates of its source (`show.api.rsb`) and the answers of
 * a running 5.0.4, in which `updated_on` of journals and `description` of statuses are newer.
 */
const PUBLISHED = {
  'jira issue': `expand:string id:string! self:string! key:string! fields:object changelog:object renderedFields:object names:object
    schema:object transitions:array operations:object editmeta:object versionedRepresentations:object properties:object
    fieldsToInclude:object`,
  'jira page': `self:string nextPage:string maxResults:integer! startAt:integer! total:integer! isLast:boolean values:array!`,
  'jira histories': 'startAt:integer! maxResults:integer! total:integer! histories:array!',
  'jira history': 'id:string! author:object created:string! items:array! historyMetadata:object',
  'jira change': `field:string! fieldtype:string! fieldId:string from:string|null! fromString:string|null! to:string|null!
    toString:string|null!`,
  'jira user': `self:string accountId:string key:string name:string emailAddress:string avatarUrls:object displayName:string!
    active:boolean! timeZone:string accountType:string locale:string groups:object applicationRoles:object expand:string`,
  'jira status': `self:string! description:string! iconUrl:string! name:string! id:string! statusCategory:object! scope:object`,
  'jira category': 'self:string! id:integer! key:string! colorName:string! name:string!',
  'jira project': `expand:string self:string! id:string! key:string! name:string! description:string lead:object components:array
    issueTypes:array url:string email:string assigneeType:string versions:array roles:object avatarUrls:object! projectCategory:object
    projectTypeKey:string! simplified:boolean style:string favourite:boolean isPrivate:boolean issueTypeHierarchy:object
    permissions:object properties:object uuid:string insight:object deleted:boolean retentionTillDate:string deletedDate:string
    deletedBy:object archived:boolean archivedDate:string archivedBy:object landingPageInfo:object`,
  'jira permission': `id:string! key:string! name:string! type:string! description:string! havePermission:boolean! deprecatedKey:boolean`,
  'jira server': `baseUrl:string! version:string! versionNumbers:array! deploymentType:string! buildNumber:integer! buildDate:string!
    serverTime:string scmInfo:string! serverTitle:string! healthChecks:array`,
  'jira error': 'errorMessages:array! errors:object! status:integer',
  'redmine issue': `id:integer! project:object! tracker:object! status:object! priority:object! author:object! assigned_to:object
    category:object fixed_version:object parent:object subject:string! description:string|null! start_date:string|null!
    due_date:string|null! done_ratio:integer! is_private:boolean! estimated_hours:number|null! total_estimated_hours:number|null!
    spent_hours:number total_spent_hours:number custom_fields:array created_on:string! updated_on:string! closed_on:string|null!
    journals:array children:array attachments:array relations:array changesets:array watchers:array allowed_statuses:array`,
  'redmine status': 'id:integer! name:string! is_closed:boolean description:string|null',
  'redmine journal': `id:integer! user:object notes:string|null! created_on:string! updated_on:string updated_by:object
    private_notes:boolean details:array!`,
  'redmine detail': 'property:string! name:string! old_value:string|null! new_value:string|null!',
  'redmine project': `id:integer! name:string! identifier:string! description:string|null! homepage:string status:integer!
    is_public:boolean! inherit_members:boolean parent:object custom_fields:array created_on:string! updated_on:string!`,
  'redmine user': `id:integer! login:string! admin:boolean firstname:string! lastname:string! mail:string created_on:string!
    updated_on:string last_login_on:string|null passwd_changed_on:string|null twofa_scheme:string|null api_key:string status:integer
    custom_fields:array`,
} as const

export type Described = keyof typeof PUBLISHED

/** Lists where an object is not as published. */
export function faultsOf(name: Described, object: Readonly<Record<string, unknown>>): readonly string[] {
  const fields = new Map(
    PUBLISHED[name].split(/\s+/).map((field) => {
      const [, word = '', types = '', mark] = /^(\w+):([\w|]+)(!?)$/.exec(field) ?? []
      return [word, { types: types.split('|'), isRequired: mark === '!' }] as const
    }),
  )
  const missing = [...fields].filter(([field, { isRequired }]) => isRequired && !Object.hasOwn(object, field))
  const wrong = Object.entries(object).flatMap(([field, value]) => {
    if (value === undefined) return []
    const types = fields.get(field)?.types
    if (types === undefined) return [`${name}: ${field} is not published`]
    return typesOf(value).some((type) => types.includes(type)) ? [] : [`${name}: ${field} is ${JSON.stringify(value)}`]
  })
  return [...missing.map(([field]) => `${name}: ${field} is missing`), ...wrong]
}

function typesOf(value: unknown): readonly string[] {
  if (value === null) return ['null']
  if (Array.isArray(value)) return ['array']
  return Number.isInteger(value) ? ['integer', 'number'] : [typeof value]
}
