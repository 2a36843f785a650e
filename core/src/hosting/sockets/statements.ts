/** Finds declared statements that could do more than read. */
import type { Statement, StatementGrant } from '../../contract/socket.ts'
import { fillPlaces, placesProblem, QUOTED } from './identifiers.ts'

/**
 * Words that may stand before a parenthesis. Even in a transaction that only reads, a function can act outside of it: end sessions, take
 * locks, and use files, logs and connections.
 */
const WORDS: ReadonlySet<string> = new Set(
  [
    // Allowed words of the language, and types with a length
    'all and any array as between by case cube distinct else except exists filter from group having in index intersect is join lateral like',
    'ilike limit not offset on or ordinality over partition rollup row select sets some then union using values when where with within',
    'binary bit char character decimal float interval numeric time timestamp varbinary varchar varying datetime',
    // Allowed functions of sets of rows
    'count sum min max avg every bool_and bool_or any_value array_agg string_agg group_concat row_number rank dense_rank percent_rank',
    'cume_dist ntile lag lead first_value last_value nth_value unnest cardinality array_length array_position array_to_string grouping',
    // Allowed functions of one value
    'coalesce nullif ifnull isnull if greatest least cast convert abs ceil ceiling floor round trunc truncate mod sign',
    // Allowed functions of texts and bytes
    'lower upper trim ltrim rtrim btrim length char_length character_length octet_length bit_length substring substr left right position',
    'strpos locate instr replace translate concat concat_ws split_part starts_with reverse overlay ascii chr md5 sha1 sha2 sha224 sha256',
    'sha384 sha512 encode decode convert_from convert_to hex unhex to_hex to_base64 from_base64 bin_to_uuid uuid_to_bin',
    // Allowed functions of times
    'now current_time current_timestamp localtime localtimestamp transaction_timestamp statement_timestamp clock_timestamp date date_trunc',
    'date_part extract age to_timestamp to_date to_char to_number make_date make_timestamp make_timestamptz make_interval timestampdiff',
    'timestampadd datediff date_add date_sub date_format str_to_date unix_timestamp from_unixtime utc_timestamp convert_tz year month day',
    'hour minute second microsecond last_day pg_xact_commit_timestamp pg_xact_commit_timestamp_origin pg_last_committed_xact',
    // Allowed functions of JSON
    'json_extract json_unquote json_value json_query json_exists json_contains json_length json_type json_object json_array json_arrayagg',
    'json_objectagg json_agg jsonb_agg json_object_agg jsonb_object_agg json_build_object jsonb_build_object json_build_array',
    'jsonb_build_array json_array_length jsonb_array_length json_array_elements jsonb_array_elements json_array_elements_text',
    'jsonb_array_elements_text json_extract_path jsonb_extract_path json_extract_path_text jsonb_extract_path_text json_typeof',
    'jsonb_typeof jsonb_path_exists jsonb_path_query jsonb_path_query_first to_json to_jsonb row_to_json',
    // Allowed functions that tell whether rows are hidden, and which database answers and how far it is: they read the catalogue, the control
    // file and the state of recovery
    'row_security_active pg_is_in_recovery pg_control_system pg_control_checkpoint pg_control_recovery pg_last_xact_replay_timestamp',
  ].flatMap((line) => line.split(' ')),
)

const BEFORE_PARENTHESIS = /([A-Za-z_\u0080-\uffff][\w$\u0080-\uffff]*|')\s*\(/g

/** The first word or quotation before a parenthesis that is not in `WORDS`. */
function calledIn(text: string): string | undefined {
  const names = [...text.replaceAll(QUOTED, "'").matchAll(BEFORE_PARENTHESIS)].map(([, name]) => name!)
  const found = names.find((name) => !WORDS.has(name.toLowerCase()))
  return found === "'" ? 'a quoted name' : found
}

/** Patterns of statements that could do more than read, even in a transaction that only reads, or that are not what they seem. */
const REFUSED: readonly (readonly [pattern: RegExp, says: string])[] = [
  [/;/, 'has a semicolon'],
  [/--|\/\*/, 'has a comment'],
  [/\$(?![0-9])/, 'has text between dollar signs'],
  [/['"`]/, 'has a quotation that does not end'],
  [/\bINTO\b/i, 'has INTO'],
  [/\b(?:FOR|KEY|IN)\s+SHARE\b/i, 'locks rows'],
  [/\bNEXT\s+VALUE\s+FOR\b|\.\s*NEXTVAL\b/i, 'takes the next value of a sequence'],
  [/\b(?:INSERT|UPDATE|DELETE|MERGE|CALL|COPY|PREPARE|EXECUTE)\b/i, 'has a word of statements that write'],
]

/** The operator of Postgres by its full name, for which no owner of a type can put another. */
const OWN_EQUALS = /\bOPERATOR\(pg_catalog\.=\)/gi

/** The reason a statement may not be declared, as the end of a sentence. */
export function statementProblem(statement: Statement, protocol: StatementGrant['protocol']): string | undefined {
  const { parameters = [] } = statement
  const filled = fillPlaces(statement.text, (place) => `"${place}"`)
  const text = protocol === 'postgres' ? filled.replaceAll(OWN_EQUALS, '=') : filled
  // Backslashes are refused: without them, a quotation ends where it seems to.
  if (text.includes('\\')) return 'has a backslash'
  // A backquote is an operator in Postgres, behind which a quotation would hide what it runs.
  if (protocol === 'postgres' && text.includes('`')) return 'has a backquote'
  const bare = text.replaceAll(QUOTED, "''").replaceAll("''", '')
  if (!/^\s*(?:SELECT|WITH|VALUES)\b/i.test(bare)) return 'does not begin with SELECT, WITH or VALUES'
  // `#` begins a comment in MySQL, and is an operator in Postgres.
  if (protocol === 'mysql' && bare.includes('#')) return 'has a comment'
  const found = REFUSED.find(([pattern]) => pattern.test(bare))
  if (found) return found[1]
  const called = calledIn(text)
  if (called !== undefined) return `calls ${called}, which is no function that only computes: put it into a view`
  const identifiers = placesProblem(statement)
  if (identifiers !== undefined) return identifiers
  const places = protocol === 'mysql' ? (bare.match(/\?/g) ?? []).length : mostPlace(bare)
  return places === parameters.length ? undefined : `has ${places} places for ${parameters.length} parameters`
}

function mostPlace(text: string): number {
  return Math.max(0, ...[...text.matchAll(/\$([0-9]+)/g)].map(([, number]) => Number(number)))
}
