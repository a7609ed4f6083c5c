"""Runs one job in a child that is locked down: compiles the evaluator's code, calls it, and answers on descriptor 3.

The code can change this interpreter as it likes; that affects only the answer about itself. Functions that must not break by
accident (by a patched `print` or `type`) are taken from their modules beforehand.
"""
import inspect
import io
import json
import math
import os
import random
import struct
import sys
from types import FunctionType, ModuleType

CONNECTION = 3
FILE_NAME = '<evaluator>'
MODULE_NAME = 'evaluator'
MAX_PRINTED_BYTES = 16 * 1024
MAX_MESSAGE_LENGTH = 500
LONGEST_NAME = 100
MAX_LABEL_LENGTH = 500
# Of a message, or of a reasoning, which the service cuts to 4,096 with a mark.
MAX_TEXT_BYTES = 4100
# Memory that is freed when the code runs out of it, so that enough is left to report that.
RESERVE_BYTES = 1 << 20
NO_MEMORY_TO_ANSWER = 95
# The parameters of `evaluate`, in their order.
NAMES = ('input', 'output', 'record')
# The members of a dict that `evaluate` returns.
MEMBERS = ('score', 'label', 'reasoning')
RULE = 'a bool, an int or a float, or a dict of score, label and reasoning'
RULE_WITH_LABELS = 'a label, a score, or a dict of score, label and reasoning'

# An answer: its kind, the score, line and column (0: none), the lengths of two texts; then the texts and printed output. The
# texts are code and message of a failure, or label and reasoning of a score (empty: none). frame.ts decodes it. TAKES_RECORD
# is LOADED for an `evaluate` that takes the whole record, LABEL a SCORE that the label decides.
LOADED, SCORE, FAILURE, TAKES_RECORD, LABEL = 0, 1, 2, 3, 4
_pack_head = struct.Struct('>IBdiiHH').pack
_read, _write, _close, _exit = os.read, os.write, os.close, os._exit
_type, _bool, _int, _float, _str, _dict, _len, _callable = type, bool, int, float, str, dict, len, callable
_is_finite, _recursion_limit, _load_json = math.isfinite, sys.setrecursionlimit, json.loads
_compile, _exec = compile, exec
# Returns a plain str of a str or a subclass of it, whose own methods can return anything.
_plain = str.__str__


class Failure(Exception):
    """A failed evaluation: a code of core/scoring, a sentence, and the place in the source."""

    def __init__(self, code, message, line=0, column=0):
        super().__init__(message)
        self.code, self.message, self.line, self.column = code, message, line or 0, column or 0


class Printed(io.TextIOBase):
    """Replaces stdout and stderr, and keeps the first 16 KB."""

    encoding = 'utf-8'
    errors = 'replace'

    def __init__(self):
        self.parts, self.length = [], 0

    def writable(self):
        return True

    def write(self, text):
        if not isinstance(text, str):
            raise TypeError(f'write() argument must be str, not {type(text).__name__}')
        text = _plain(text)
        if self.length < MAX_PRINTED_BYTES:
            self.parts.append(text[: MAX_PRINTED_BYTES - self.length])
        self.length += len(text)
        return len(text)

    def take(self):
        """Returns the output since the last call, as UTF-8."""
        text = ''.join(self.parts)
        whole = text.encode('utf-8', 'replace')
        if self.length > _len(text) or _len(whole) > MAX_PRINTED_BYTES:
            end = '\n[more was printed]'.encode()
            whole = whole[: MAX_PRINTED_BYTES - _len(end)].decode('utf-8', 'ignore').encode() + end
        self.parts, self.length = [], 0
        return whole


def read_frame():
    """Reads the next frame from the service; the child ends when there is none."""
    return _load_json(read_bytes())


def read_bytes():
    return read_exactly(int.from_bytes(read_exactly(4), 'big'))


def read_record():
    """Reads the frame with the whole record, which follows input and output for code that takes it."""
    frame = read_bytes()
    try:
        return _load_json(frame)
    except (ValueError, RecursionError) as error:
        # Python refuses what JSON allows: deep nesting, and integers of more than 4,300 digits.
        raise Failure('py_exception', f'The record cannot be read in Python: {name_of(_type(error))}: {error}') from None


def read_exactly(length):
    parts = []
    while length > 0:
        part = _read(CONNECTION, min(length, 1 << 20))
        if not part:
            _exit(0)
        parts.append(part)
        length -= _len(part)
    return b''.join(parts)


def answer(kind, printed, score=0.0, texts=('', ''), place=(0, 0)):
    first, second = (text.encode('utf-8', 'replace') for text in texts)
    second = second[:MAX_TEXT_BYTES]
    rest = first + second + printed.take()
    # 21: bytes of the head after the length.
    frame = _pack_head(21 + _len(rest), kind, score, *place, _len(first), _len(second)) + rest
    while frame:
        frame = frame[_write(CONNECTION, frame):]


def serve(reserve, harness):
    """
    Does one job and ends the process. Exit handlers and finalizers that the code left behind do not run. `reserve` is memory
    to free when none is left; `harness` holds the globals of the caller, which the code could otherwise read.
    """
    harness.clear()
    try:
        do_job(reserve)
    finally:
        _exit(0)


def do_job(reserve):
    random.seed()
    printed = Printed()
    sys.stdin, sys.stdout, sys.stderr = io.StringIO(''), printed, printed
    job = read_frame()
    many = job['task'] == 'many'
    try:
        call, takes_record = load(job['code'])
        if many or job['task'] == 'compile':
            answer(TAKES_RECORD if many and takes_record else LOADED, printed)
        else:
            if takes_record:
                # An answer takes what was printed, and that belongs to the last one.
                answer(TAKES_RECORD, Printed())
            answer_record(call, takes_record, job, job['labels'], printed)
        while many:
            answer_next(call, takes_record, read_frame(), job['labels'], printed)
    except BaseException as error:
        reserve.clear()
        forget_module()
        answer_failure(error, printed)
    # A closed connection tells the service that there was one answer; the end of the process takes longer.
    _close(CONNECTION)


def answer_record(call, takes_record, texts, labels, printed):
    more = (read_record(),) if takes_record else ()
    score, label, reasoning = result_of(call(texts['input'], texts['output'], *more), labels)
    if score is None:
        answer(LABEL, printed, texts=(label, reasoning))
    else:
        answer(SCORE, printed, score=score, texts=(label, reasoning))


def answer_next(call, takes_record, texts, labels, printed):
    """Answers one record of a batch. After an ordinary failure the child goes on; without memory it cannot."""
    try:
        answer_record(call, takes_record, texts, labels, printed)
    except MemoryError:
        raise
    except BaseException as error:
        answer_failure(error, printed)


def answer_failure(error, printed):
    try:
        _recursion_limit(1000)
        failure = error if _type(error) is Failure else describe(error)
        release(error)
        texts = failure.code, failure.message[:MAX_MESSAGE_LENGTH]
        answer(FAILURE, printed, texts=texts, place=(failure.line, failure.column))
    except MemoryError:
        _exit(NO_MEMORY_TO_ANSWER)


def forget_module():
    """Frees the code's module, with what it holds: an answer needs memory."""
    try:
        sys.modules.pop(MODULE_NAME, None)
    except BaseException:
        pass  # the code may have replaced the table


def release(error):
    """Frees an error's frames, which keep the code's objects alive."""
    try:
        error.__traceback__ = error.__context__ = error.__cause__ = None
    except BaseException:
        pass  # the code's own class may refuse it


def result_of(value, labels):
    """
    Returns the score, the label and the reasoning that `evaluate` returned; texts that are absent are empty. The score is None when
    the label decides it, which only an evaluator with `labels` may leave to it. Only exact types are read: the methods of a
    subclass can return anything.
    """
    kind = _type(value)
    if kind is _str and labels:
        return None, label_of(value), ''
    if kind is not _dict:
        rule = RULE_WITH_LABELS if labels else RULE
        return score_of(value, lambda name: f'evaluate returned {name}; it must return {rule}'), '', ''
    for name in value:
        if _type(name) is not _str or name not in MEMBERS:
            shown = repr(name[:LONGEST_NAME]) if _type(name) is _str else f'of type {name_of(_type(name))}'
            raise bad_type(f'evaluate returned a dict with the unknown member {shown}; its members are score, label and reasoning')
    score, label, reasoning = (value.get(name) for name in MEMBERS)
    label = '' if label is None else label_of(label)
    if reasoning is not None and _type(reasoning) is not _str:
        raise bad_type(f'evaluate returned {name_of(_type(reasoning))} as the reasoning; it must be a str')
    if score is not None:
        score = score_of(score, lambda name: f'evaluate returned {name} as the score; it must be a bool, an int or a float')
    elif not labels:
        raise bad_type('evaluate returned a dict without a score, which only an evaluator with categories may do, for a label')
    elif not label:
        raise bad_type('evaluate returned a dict without a score and without a label; it must have one of them')
    # Four bytes for each character at most.
    return score, label, '' if reasoning is None else reasoning[:MAX_TEXT_BYTES]


def bad_type(message):
    return Failure('py_bad_return_type', message)


def label_of(label):
    if _type(label) is not _str:
        raise bad_type(f'evaluate returned {name_of(_type(label))} as the label; it must be a str')
    if not label.strip() or _len(label) > MAX_LABEL_LENGTH:
        raise bad_type(f'evaluate returned a label of {_len(label)} characters; it must have 1 to {MAX_LABEL_LENGTH}, and not only spaces')
    return label


def score_of(value, complaint):
    kind = _type(value)
    if kind is not _float and kind is not _int and kind is not _bool:
        raise bad_type(complaint(name_of(kind)))
    try:
        score = _float(value)
    except OverflowError:
        raise Failure('py_not_finite', 'evaluate returned an integer too large for a score') from None
    if not _is_finite(score):
        raise Failure('py_not_finite', f'evaluate returned {score}; a score must be finite')
    return score


def load(code):
    """Runs the module and returns the function to call, and whether it takes the record after input and output."""
    try:
        program = _compile(code, FILE_NAME, 'exec', dont_inherit=True)
    except SyntaxError as error:
        raise Failure('py_syntax_error', _str(error.msg), error.lineno, error.offset) from None
    except UnicodeError:
        raise Failure('py_syntax_error', 'The source has a lone surrogate, which is no character') from None
    except ValueError as error:
        line = code.count('\n', 0, code.find('\0')) + 1 if '\0' in code else 0
        raise Failure('py_syntax_error', _str(error), line) from None
    except (MemoryError, RecursionError, OverflowError):
        raise Failure('py_syntax_error', 'The source is nested too deeply for Python to compile it') from None
    # Dataclasses look for annotations that are text in the module of their class.
    module = sys.modules[MODULE_NAME] = ModuleType(MODULE_NAME)
    namespace = module.__dict__
    _exec(program, namespace)
    return as_call(namespace.get('evaluate'), 'evaluate' in namespace)


def as_call(function, defined):
    """Returns a function that calls `evaluate` by position, in the order input, output, record, and whether it takes a record."""
    if not defined:
        raise Failure('py_no_function', 'The code must define evaluate(input, output)')
    if not _callable(function) or isinstance(function, _type):
        what = 'a class' if isinstance(function, _type) else name_of(_type(function))
        raise Failure('py_no_function', f'evaluate must be a function, not {what}')
    code = function.__code__ if _type(function) is FunctionType else None
    line, flags = (code.co_firstlineno, code.co_flags) if code else (0, 0)
    if flags & (inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR):
        raise Failure('py_bad_signature', 'evaluate must not be async: nothing awaits it', line)
    if flags & inspect.CO_GENERATOR:
        raise Failure(
            'py_bad_return_type',
            f'evaluate returned a generator, as it contains yield; it must return {RULE}',
            line,
        )
    if code and code.co_kwonlyargcount == 0:  # the usual cases
        positional = code.co_varnames[: code.co_argcount]
        if positional in (NAMES[:2], NAMES):
            return function, positional == NAMES
    return by_signature(function, line)


def by_signature(function, line):
    """
    Decides by the signature how to call `evaluate`. It takes the record if it has a parameter of that name, or a third positional
    parameter without a default. Parameters named input, output and record are passed by name, others by position.
    """
    try:
        signature = inspect.signature(function, follow_wrapped=False)
    except (TypeError, ValueError):
        return function, False  # written in C: it has no signature
    parameters = signature.parameters.values()
    positional = [each.name for each in parameters if each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD)]
    required = [each.name for each in parameters if each.name in positional and each.default is each.empty]
    named = [each.name for each in parameters if each.kind in (each.POSITIONAL_OR_KEYWORD, each.KEYWORD_ONLY)]
    third = 'record' if 'record' in named else next((name for name in required if name not in NAMES), 'record')
    if 'record' not in named or 'record' in positional[:2]:
        if accepts(signature, input='', output=''):
            return lambda given, answered: function(input=given, output=answered), False
        if accepts(signature, '', ''):
            refuse_wrong_order(signature, positional, NAMES[:2], line)
            return function, False
    if accepts(signature, input='', output='', **{third: None}):
        return lambda given, answered, record: function(input=given, output=answered, **{third: record}), True
    # A record with a default, or after a star, goes by name behind two by position.
    if accepts(signature, '', '', record=None):
        refuse_wrong_order(signature, positional, NAMES[:2], line)
        return lambda given, answered, record: function(given, answered, record=record), True
    if accepts(signature, '', '', None):
        refuse_wrong_order(signature, positional, NAMES, line)
        return function, True
    calls = 'evaluate(input, output) or evaluate(input, output, record)'
    raise Failure('py_bad_signature', f'evaluate{signature} cannot be called as {calls}', line)


def refuse_wrong_order(signature, positional, order, line):
    """Refuses positional parameters that are named like another one: their author means another order."""
    for place, name in enumerate(positional[: _len(order)]):
        if name in order and order.index(name) != place:
            names = ' and '.join((', '.join(order[:-1]), order[-1]))
            raise Failure('py_bad_signature', f'evaluate{signature} has {names} in the wrong order', line)


def accepts(signature, *args, **kwargs):
    try:
        signature.bind(*args, **kwargs)
        return True
    except TypeError:
        return False


def name_of(kind):
    try:
        return _plain(_str(kind.__name__))[:LONGEST_NAME]
    except BaseException:
        return 'an object without a name'


def describe(error):
    """Returns the failure for an exception that the code raised, with the last line of the code in its traceback."""
    kind = name_of(_type(error))
    if isinstance(error, MemoryError):
        return Failure('py_memory', 'The code used more memory than it may', line_of(error))
    try:
        text = _plain(_str(error))[:MAX_MESSAGE_LENGTH]
    except BaseException as second:
        text = f'(its __str__ raised {name_of(_type(second))})'
    return Failure('py_exception', f'{kind}: {text}' if text else kind, line_of(error))


def line_of(error):
    line = 0
    try:
        step = error.__traceback__
        while step is not None:
            if step.tb_frame.f_code.co_filename == FILE_NAME:
                line = step.tb_lineno
            step = step.tb_next
    except BaseException:
        pass  # the code's own class may have replaced it
    return line
