-- What version 1 of the file may hold. It stays as it is: newer versions have to read it.
INSERT INTO behaviors VALUES (1, 'b-1', 'use-uv', 'directive', 'user', 'active', 1, '[["language", ["python"]]]', 'uv', 3, 1, 0, 90.0, 0, 0.6, 1.0, 2.0, NULL, '["b-2"]', '["python"]', 'Use uv.', '{"source": "human", "at": 1.0, "wrong": "pip install", "file": "", "task": "", "session": "", "note": ""}', 'Use uv, not pip.', '["Only uv."]', '');
INSERT INTO behaviors VALUES (2, 'b-2', 'only-uv', 'directive', 'user', 'superseded', 0, '[]', 'uv', 0, 0, 0, NULL, 0, 0.6, 1.0, 2.0, 'b-1', '[]', '[]', '', '{"source": "human", "at": 1.0, "wrong": "", "file": "", "task": "", "session": "", "note": ""}', 'Only uv.', '[]', '');
INSERT INTO triggers VALUES ('language=python', 1);
INSERT INTO triggers VALUES ('uv', 1);
INSERT INTO edges VALUES ('b-2', 'b-1', 'learned-from', 0.5, 2.0, NULL);
INSERT INTO line_costs VALUES (1, 'markdown', 'o200k_base', 3, 1, 7, 19);
INSERT INTO events (time, kind, behavior, session, detail) VALUES (1.0, 'learned', 'b-1', '', '{}');
INSERT INTO events (time, kind, behavior, session, detail) VALUES (2.0, 'merged', 'b-1', 's1', '{"other": "b-2"}');
INSERT INTO sessions VALUES ('s1', '', '{"prompts": 4, "spent": 120, "shown": {"b-1": [1, 2, 3]}}', 4000000000.0);
INSERT INTO calibrations VALUES ('claude-x', 1.25, 0.05, 12.0);
INSERT INTO windows VALUES ('claude-x', 200000, 3.0);
INSERT INTO meta VALUES ('index', '1');
