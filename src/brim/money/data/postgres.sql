-- The tables of money, as in SQLite. Texts compare byte by byte, as SQLite does it.
CREATE DOMAIN words AS text COLLATE "C";

CREATE TABLE spend_scopes (
    scope words PRIMARY KEY,
    original bigint,
    base bigint,
    amount bigint,
    state words NOT NULL DEFAULT 'open',
    warned boolean NOT NULL DEFAULT FALSE,
    spent bigint NOT NULL DEFAULT 0 CHECK (spent >= 0),
    reserved bigint NOT NULL DEFAULT 0 CHECK (reserved >= 0)
) WITH (fillfactor = 50); -- the same few rows change with every request: there is room for that in their page

CREATE TABLE reservations (
    request_id words PRIMARY KEY,
    scope words NOT NULL,
    amount bigint NOT NULL CHECK (amount >= 0),
    charged bigint NOT NULL CHECK (charged >= 0),
    state words NOT NULL,
    purpose words NOT NULL,
    overrun boolean NOT NULL,
    made_at double precision NOT NULL,
    lease_end double precision NOT NULL,
    tokens bigint NOT NULL DEFAULT 0,
    charged_tokens bigint NOT NULL DEFAULT 0,
    model words NOT NULL DEFAULT '',
    branch words NOT NULL DEFAULT ''
);
CREATE INDEX reservations_open ON reservations (lease_end) WHERE state = 'open';

CREATE TABLE spend_entries (
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    time double precision NOT NULL,
    request_id words NOT NULL,
    scope words NOT NULL,
    kind words NOT NULL,
    amount bigint NOT NULL,
    tokens bigint NOT NULL DEFAULT 0
);

CREATE TABLE spend_answers (
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    time double precision NOT NULL,
    scope words NOT NULL,
    answer words NOT NULL,
    amount bigint
);

CREATE TABLE spend_limits (
    scope words NOT NULL,
    period words NOT NULL,
    unit words NOT NULL,
    original bigint NOT NULL,
    base bigint NOT NULL,
    amount bigint NOT NULL,
    state words NOT NULL,
    warned boolean NOT NULL,
    spent bigint NOT NULL CHECK (spent >= 0),
    reserved bigint NOT NULL CHECK (reserved >= 0),
    zone words NOT NULL,
    starts double precision NOT NULL,
    ends double precision,
    PRIMARY KEY (scope, period, unit)
) WITH (fillfactor = 50);

CREATE TABLE spend_days (
    day bigint NOT NULL,
    scope words NOT NULL,
    model words NOT NULL,
    branch words NOT NULL,
    amount bigint NOT NULL,
    tokens bigint NOT NULL,
    PRIMARY KEY (day, scope, model, branch)
);

CREATE TABLE team_keys (
    hash words PRIMARY KEY,
    ending words NOT NULL,
    scope words NOT NULL,
    made_at double precision NOT NULL,
    revoked_at double precision
);

CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'what happened cannot be changed or removed';
END $$;
CREATE TRIGGER spend_entries_are_not_changed BEFORE UPDATE ON spend_entries
FOR EACH ROW EXECUTE FUNCTION refuse_change();

CREATE FUNCTION refuse_unless_folded() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM spend_days WHERE day = floor(OLD.time / 86400) AND scope = OLD.scope) THEN
        RAISE EXCEPTION 'an entry cannot be removed';
    END IF;
    RETURN OLD;
END $$;
CREATE TRIGGER spend_entries_are_not_removed BEFORE DELETE ON spend_entries
FOR EACH ROW EXECUTE FUNCTION refuse_unless_folded();

-- Where one text begins in another, from 1; 0 is nowhere. SQLite's name for it.
CREATE FUNCTION instr(text, text) RETURNS integer IMMUTABLE LANGUAGE sql AS $$
    SELECT strpos($1, $2)
$$;

-- The lock of this schema. Python takes it alone; spend_together shares it and locks rows.
CREATE FUNCTION brim_lock() RETURNS bigint STABLE LANGUAGE sql AS $$
    SELECT hashtextextended('brim ' || current_schema(), 0)
$$;

-- Seconds since 1970 by the server's clock: those of a thousand machines differ.
CREATE FUNCTION brim_now() RETURNS double precision VOLATILE LANGUAGE sql AS $$
    SELECT extract(epoch FROM clock_timestamp())::double precision
$$;

-- What of a limit may be spent before a person is asked: all but what is held back for the wrap-up.
CREATE FUNCTION pause_at(amount bigint, base bigint) RETURNS bigint IMMUTABLE LANGUAGE sql AS $$
    SELECT amount - least(base / 20, 500000)
$$;

-- Whether a sum that is about to be spent reaches a mark at which a person is told something.
CREATE FUNCTION tells(amount bigint, base bigint, state text, warned boolean, sum bigint, warn bigint)
RETURNS boolean IMMUTABLE LANGUAGE sql AS $$
    SELECT coalesce(CASE
        WHEN sum >= pause_at(amount, base) THEN NOT (warned AND state = 'asked')
        ELSE NOT warned AND sum >= ceil(amount::numeric * warn / 1000000)
    END, FALSE)
$$;

-- Reserves, settles and releases in one transaction what plainly can be, in the order of the requests.
--
-- Each request has a kind, an id, its scope and places in names: its path, which is '*' and every scope that it counts
-- against, in order of name; the roots, which are the outermost of these; and its own scope, the first if it belongs to
-- several. Locks are taken top down: the lock of the outermost scopes, in order of name, guards everything below them;
-- limits follow. Each scope of the path must let the request pass. The answer has an array for each request:
--   ["open" | "settled" | "released", ...] and the columns of its reservation;
--   ["refused", table, row] if the limit in that row doesn't let it pass;
--   null if it takes more than sums to decide: Python does it. Then nothing was done for that request, nor for those
--   after it under one of the same outermost scopes.
CREATE FUNCTION spend_together(requests jsonb, names text[], warn bigint, given_time double precision)
RETURNS jsonb LANGUAGE plpgsql
-- A plan is made once per connection, maybe when the tables are empty: it must be one for full tables.
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
AS $$
DECLARE
    moment double precision;
    scopes spend_scopes[] := array_fill(NULL::spend_scopes, ARRAY[cardinality(names)]);
    missing boolean[] := array_fill(TRUE, ARRAY[cardinality(names)]);
    touched boolean[] := array_fill(FALSE, ARRAY[cardinality(names)]);
    has_patterns boolean := FALSE; -- limits for each session or sub-agent below
    limits spend_limits[] := '{}';
    places integer[] := '{}'; -- of each limit's scope in names
    unready integer[]; -- places of sessions and sub-agents that have no limit of their own yet
    waiting integer[] := '{}'; -- places of outermost scopes whose next requests are for Python
    seen text[] := '{}';
    reserved reservations[] := '{}';
    ended reservations[] := '{}';
    answers jsonb := '[]';
    answer jsonb;
    one_scope spend_scopes;
    one_limit spend_limits;
    request record;
    place integer;
    fits boolean;
    wanted bigint;
    charge bigint;
    used bigint;
    made double precision;
BEGIN
    PERFORM pg_advisory_xact_lock_shared(brim_lock());
    PERFORM FROM spend_scopes WHERE scope = ANY (names) AND scope NOT LIKE '%/%' ORDER BY scope FOR NO KEY UPDATE;
    FOR one_scope IN SELECT * FROM spend_scopes WHERE scope = ANY (names) LOOP
        place := array_position(names, one_scope.scope::text);
        scopes[place] := one_scope;
        missing[place] := FALSE;
    END LOOP;
    FOR one_limit IN
        SELECT * FROM spend_limits WHERE scope = ANY (names) ORDER BY scope, period, unit
        FOR NO KEY UPDATE
    LOOP
        IF one_limit.period = 'session' AND one_limit.scope NOT LIKE '%/%'
            OR one_limit.period = 'subagent' AND one_limit.scope NOT LIKE '%/%/%'
        THEN
            has_patterns := TRUE;
        ELSE
            limits := limits || one_limit;
            places := places || array_position(names, one_limit.scope::text);
        END IF;
    END LOOP;
    IF has_patterns THEN
        SELECT array_agg(n.place) INTO unready FROM unnest(names) WITH ORDINALITY AS n(name, place)
        WHERE EXISTS (
            SELECT FROM spend_limits p
            WHERE p.scope = ANY (names) AND (p.scope = '*' OR starts_with(n.name, p.scope || '/'))
            AND (p.period = 'session' AND p.scope NOT LIKE '%/%' AND n.name LIKE '%/%' AND n.name NOT LIKE '%/%/%'
                OR p.period = 'subagent' AND p.scope NOT LIKE '%/%/%' AND n.name LIKE '%/%/%'
                AND n.name NOT LIKE '%/%/%/%' AND n.name NOT LIKE '%/main')
            AND NOT EXISTS (SELECT FROM spend_limits o WHERE o.scope = n.name AND o.period = p.period AND o.unit = p.unit)
        );
    END IF;
    moment := coalesce(given_time, brim_now());
    -- A lease that has ended, or ends later than any may, is charged first. That is Python's.
    IF EXISTS (SELECT FROM reservations WHERE state = 'open' AND lease_end <= moment)
        OR EXISTS (SELECT FROM reservations WHERE state = 'open' AND lease_end > moment + 691200)
        OR cardinality(limits) > 0
        AND EXISTS (SELECT FROM unnest(limits) AS l WHERE moment < l.starts OR moment >= l.ends)
    THEN
        RETURN NULL;
    END IF;

    FOR request IN
        SELECT asked.*, known.scope AS known_scope, known.amount AS aside, known.tokens AS aside_tokens, known.state,
            known.purpose, known.overrun, known.made_at, known.lease_end
        FROM jsonb_to_recordset(requests) AS asked(
            at integer, kind text, id text, scope text, roots integer[], path integer[], own integer, amount bigint,
            tokens bigint, lease double precision, model text, branch text, most bigint, asks boolean
        ) LEFT JOIN reservations AS known ON known.request_id = asked.id ORDER BY asked.at
    LOOP
        answer := 'null';
        charge := CASE request.kind WHEN 'settle' THEN request.amount ELSE 0 END;
        used := CASE request.kind WHEN 'settle' THEN coalesce(request.tokens, request.aside_tokens) ELSE 0 END;
        fits := NOT (request.id = ANY (seen) OR request.path && waiting OR request.path && coalesce(unready, '{}')
                OR EXISTS (SELECT FROM unnest(request.roots) AS root WHERE missing[root]))
            AND CASE request.kind WHEN 'reserve' THEN request.state IS NULL
            ELSE request.state = 'open' AND request.known_scope = request.scope
                AND charge <= request.aside AND (used <= request.aside_tokens OR request.aside_tokens = 0) END;
        made := coalesce(request.made_at, moment);

        -- Does every segment of the path let it pass?
        IF fits THEN
            FOREACH place IN ARRAY request.path[2:] LOOP
                CONTINUE WHEN missing[place];
                one_scope := scopes[place];
                IF request.kind = 'reserve' THEN
                    fits := one_scope.state IN ('open', 'asked') AND (one_scope.amount IS NULL OR request.amount <=
                        greatest(0, pause_at(one_scope.amount, one_scope.base) - one_scope.spent - one_scope.reserved));
                    IF NOT fits AND (one_scope.state <> 'open' OR NOT request.asks) THEN
                        answer := jsonb_build_array('refused', 'scope', to_jsonb(one_scope));
                    END IF;
                ELSIF charge > 0 THEN
                    fits := one_scope.state IN ('open', 'asked') AND NOT tells(one_scope.amount, one_scope.base,
                        one_scope.state, one_scope.warned, one_scope.spent + charge, warn);
                END IF;
                EXIT WHEN NOT fits;
            END LOOP;
        END IF;
        -- A limit of the caller's own: Python says what is wrong.
        IF fits AND request.kind = 'reserve' AND request.most IS NOT NULL THEN
            one_scope := scopes[request.own];
            fits := coalesce(one_scope.spent + one_scope.reserved, 0) + request.amount <= request.most;
        END IF;
        IF fits THEN
            FOR number IN 1 .. cardinality(places) LOOP
                one_limit := limits[number];
                CONTINUE WHEN NOT places[number] = ANY (request.path) OR made < one_limit.starts;
                IF request.kind = 'reserve' THEN
                    wanted := CASE one_limit.unit WHEN 'tokens' THEN request.tokens ELSE request.amount END;
                    fits := one_limit.state IN ('open', 'asked') AND wanted <=
                        greatest(0, pause_at(one_limit.amount, one_limit.base) - one_limit.spent - one_limit.reserved);
                    IF NOT fits AND (one_limit.state <> 'open' OR NOT request.asks) THEN
                        answer := jsonb_build_array('refused', 'limit', to_jsonb(one_limit));
                    END IF;
                ELSE
                    wanted := CASE one_limit.unit WHEN 'tokens' THEN used ELSE charge END;
                    fits := wanted = 0 OR one_limit.state IN ('open', 'asked') AND NOT tells(one_limit.amount,
                        one_limit.base, one_limit.state, one_limit.warned, one_limit.spent + wanted, warn);
                END IF;
                EXIT WHEN NOT fits;
            END LOOP;
        END IF;
        IF fits THEN
            seen := seen || request.id;
            FOREACH place IN ARRAY request.path[2:] LOOP
                IF scopes[place] IS NULL THEN
                    scopes[place] := (names[place], NULL, NULL, NULL, 'open', FALSE, 0, 0)::spend_scopes;
                END IF;
                touched[place] := TRUE;
                IF request.kind = 'reserve' THEN
                    scopes[place].reserved := scopes[place].reserved + request.amount;
                ELSE
                    scopes[place].reserved := scopes[place].reserved - request.aside;
                    scopes[place].spent := scopes[place].spent + charge;
                END IF;
            END LOOP;
            FOR number IN 1 .. cardinality(places) LOOP
                one_limit := limits[number];
                CONTINUE WHEN NOT places[number] = ANY (request.path) OR made < one_limit.starts;
                IF request.kind = 'reserve' THEN
                    one_limit.reserved := one_limit.reserved
                        + CASE one_limit.unit WHEN 'tokens' THEN request.tokens ELSE request.amount END;
                ELSE
                    one_limit.reserved := greatest(0, one_limit.reserved
                        - CASE one_limit.unit WHEN 'tokens' THEN request.aside_tokens ELSE request.aside END);
                    one_limit.spent := one_limit.spent + CASE one_limit.unit WHEN 'tokens' THEN used ELSE charge END;
                END IF;
                limits[number] := one_limit;
            END LOOP;
            IF request.kind = 'reserve' THEN
                reserved := reserved || (request.id, request.scope, request.amount, 0,
                    'open', '', FALSE, moment, moment + request.lease, request.tokens, 0, request.model,
                    request.branch)::reservations;
                answer := jsonb_build_array('open', 0, 0, moment, moment + request.lease, request.amount,
                    request.tokens, '', FALSE);
            ELSE
                answer := jsonb_build_array(CASE request.kind WHEN 'settle' THEN 'settled' ELSE 'released' END, charge,
                    used, request.made_at, request.lease_end, request.aside, request.aside_tokens, request.purpose,
                    request.overrun);
                ended := ended || (request.id, request.known_scope, request.aside, charge, answer ->> 0, '', FALSE,
                    least(made, moment), 0, 0, used, '', '')::reservations;
            END IF;
        ELSIF answer = 'null' THEN
            waiting := waiting || request.roots;
            IF 1 = ANY (places) THEN
                waiting := waiting || 1; -- a limit on everything is in every path
            END IF;
        END IF;
        answers := answers || jsonb_build_array(answer);
    END LOOP;

    -- Another scope may have taken an id a moment ago: then all of this is undone, and the caller asks again.
    IF cardinality(reserved) > 0 THEN
        INSERT INTO reservations SELECT * FROM unnest(reserved);
    END IF;
    IF cardinality(ended) > 0 THEN
        UPDATE reservations AS r SET state = new.state, charged = new.charged, charged_tokens = new.charged_tokens
        FROM unnest(ended) AS new WHERE r.request_id = new.request_id;
        INSERT INTO spend_entries (time, request_id, scope, kind, amount, tokens)
        SELECT new.made_at, new.request_id, new.scope, 'settled', new.charged, new.charged_tokens
        FROM unnest(ended) AS new WHERE new.charged > 0 OR new.charged_tokens > 0;
    END IF;
    IF TRUE = ANY (touched) THEN
        UPDATE spend_scopes AS s SET spent = new.spent, reserved = new.reserved
        FROM unnest(scopes, touched) AS new(scope, original, base, amount, state, warned, spent, reserved,
            touched)
        WHERE s.scope = new.scope AND new.touched;
        INSERT INTO spend_scopes (scope, spent, reserved) SELECT new.scope, new.spent, new.reserved
        FROM unnest(scopes, touched, missing) AS new(scope, original, base, amount, state, warned, spent,
            reserved, touched, missing)
        WHERE new.touched AND new.missing;
    END IF;
    IF cardinality(limits) > 0 THEN
        UPDATE spend_limits AS l SET spent = new.spent, reserved = new.reserved FROM unnest(limits) AS new
        WHERE l.scope = new.scope AND l.period = new.period AND l.unit = new.unit
        AND (l.spent, l.reserved) <> (new.spent, new.reserved);
    END IF;
    RETURN answers;
END $$;
