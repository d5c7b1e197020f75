"""Inside your code: how does a framework call its model through a guard?

``langchain`` has ``BrimMiddleware``, ``pydantic_ai`` has ``Brim``, and ``openai_agents`` has ``brim_run_config``. Each
takes the arguments of ``Guard`` but the model, which the framework names with each call. ``settings`` says which those
are. No framework is imported before its module is.
"""
